# SPDX-License-Identifier: Apache-2.0
"""What is to be trained: the user's model, its inputs, its loss, the device."""

import importlib
import os
import platform
import sys

from mergewise_export.errors import PassError, UsageError, describe, told_as

# Read by libraries when they are loaded; torch.set_num_threads() does not reach a BLAS with threads of its own.
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def import_torch(threads=None):
    """torch, with so many threads on the processor; None leaves that to torch."""
    if threads:
        os.environ.update({name: str(threads) for name in _THREAD_VARIABLES})
    torch = _import_torch()
    if threads:
        torch.set_num_threads(threads)
    return torch


def _import_torch():
    try:
        import torch
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise UsageError(f"torch cannot be imported: {describe(error)}") from error
        raise UsageError(
            f"torch is not installed for {sys.executable}; run this with the Python that you train with"
        ) from error
    except Exception as error:
        raise UsageError(f"torch cannot be imported: {describe(error)}") from error
    return torch


def find(option, text):
    """What `package.module:name` (or `:Class.method`) stands for; it can be called."""
    module_name, colon, path = text.partition(":")
    if not (module_name and colon and path):
        raise UsageError(f"{option} '{text}': expected package.module:name, say torchvision.models:resnet18")
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.insert(0, os.getcwd())  # as `python -m` does; an installed command does not
    try:
        with told_as(UsageError, f"{option} '{text}': importing {module_name}"):
            module = importlib.import_module(module_name)
    except UsageError as error:
        missing = getattr(error.__cause__, "name", None)
        if isinstance(error.__cause__, ModuleNotFoundError) and f"{module_name}.".startswith(f"{missing}."):
            raise UsageError(
                f"{option} '{text}': there is no module '{missing}', neither in the current folder nor in "
                f"Python's path; set PYTHONPATH or change the folder"
            ) from error
        raise
    found = module
    for name in path.split("."):
        if not hasattr(found, name):
            raise UsageError(f"{option} '{text}': {module_name} has no '{path}'")
        found = getattr(found, name)
    if not callable(found):
        raise UsageError(f"{option} '{text}' is {_a(found)}, expected a function or a class to call")
    return found


def choose_device(torch, text):
    """cpu | cuda | cuda:N; without a text cuda where torch has it."""
    if text is None:
        text = "cuda" if torch.cuda.is_available() else "cpu"
    kind, colon, index = text.partition(":")
    if kind not in ("cpu", "cuda") or (colon and (kind == "cpu" or not index.isdecimal())):
        raise UsageError(f"--device '{text}': expected cpu, cuda or cuda:N")
    if kind == "cpu":
        return torch.device("cpu")
    if not torch.cuda.is_available():
        raise UsageError(f"--device {text}: torch {torch.__version__} finds no CUDA device here; take --device cpu")
    count = torch.cuda.device_count()
    if index and int(index) >= count:
        raise UsageError(f"--device {text}: there are {count} CUDA devices, expected cuda:0 to cuda:{count - 1}")
    with told_as(UsageError, f"--device {text}"):
        torch.cuda.set_device(int(index or torch.cuda.current_device()))
    return torch.device("cuda", torch.cuda.current_device())


def device_name(torch, device):
    """What the device calls itself: "NVIDIA H100", "AMD EPYC 7763 64-Core Processor"."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                key, _, value = line.partition(":")
                if key.strip() == "model name" and value.strip():
                    return value.strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def build_model(torch, text, kwargs, device):
    """The factory's model on the device, in training mode."""
    factory = find("--model", text)
    if isinstance(factory, torch.nn.Module):
        raise UsageError(f"--model '{text}' is a module already, expected a function or class that makes one")
    with told_as(UsageError, f"--model '{text}'({_arguments(kwargs)})"):
        model = factory(**kwargs)
    if not isinstance(model, torch.nn.Module):
        raise UsageError(f"--model '{text}' made {_a(model)}, expected a torch.nn.Module")
    if not any(parameter.requires_grad for parameter in model.parameters()):
        raise UsageError(f"--model '{text}' made a model with nothing to train: no parameter requires a gradient")
    for name, parameter in model.named_parameters():
        if parameter.requires_grad and parameter.dtype != torch.float32:
            raise UsageError(
                f"parameter '{name}' is {_dtype(parameter)}, expected float32 throughout: Mergewise plans with fp32 "
                "gradients; make the model with fp32 parameters (autocast may stay on inside it)"
            )
    with told_as(PassError, f"moving the model to {device}"):
        return model.to(device).train()


def random_images(torch, batch, shape, device):
    return (torch.randn(batch, *shape, device=device),)


def random_tokens(torch, batch, shape, vocabulary, device):
    return (torch.randint(vocabulary, (batch, *shape), device=device),)


def user_inputs(torch, text, batch, device):
    """What the user's function makes of the batch, on the device: a tuple, or a dict of keywords."""
    function = find("--inputs", text)
    with told_as(UsageError, f"--inputs '{text}'({batch})"):
        inputs = function(batch)
    if isinstance(inputs, torch.Tensor):
        inputs = (inputs,)
    if not isinstance(inputs, (tuple, list, dict)):
        raise UsageError(f"--inputs '{text}' gave {_a(inputs)}, expected a tuple or a dict of the model's inputs")
    with told_as(PassError, f"moving the inputs to {device}"):
        return _moved(torch, inputs, device)


def _moved(torch, value, device):
    if isinstance(value, torch.Tensor):
        return value.to(device)
    if isinstance(value, dict):
        return {key: _moved(torch, part, device) for key, part in value.items()}
    if type(value) in (tuple, list):
        return type(value)(_moved(torch, part, device) for part in value)
    return value


def call(model, inputs):
    return model(**inputs) if isinstance(inputs, dict) else model(*inputs)


class DefaultLoss:
    """The output's own .loss; else the sum over the output's tensors: a single number as it is, of
    any other the cross entropy against random classes.

    Classes lie along the last dimension (logits, tokens), or along the second of four or more
    (images). Tensors deeper inside the output, such as caches, are no part of the loss.
    """

    def __init__(self, torch):
        self._torch = torch
        self._targets = {}  # made in the first pass, so that later ones do not time it

    def __call__(self, output):
        torch = self._torch
        own = output.get("loss") if isinstance(output, dict) else getattr(output, "loss", None)
        if isinstance(own, torch.Tensor):
            return own
        if isinstance(output, torch.Tensor):
            parts = [output]
        elif isinstance(output, dict):
            parts = list(output.values())
        else:
            parts = list(output) if isinstance(output, (tuple, list)) else []
        terms = [
            self._term(index, part)
            for index, part in enumerate(parts)
            if isinstance(part, torch.Tensor) and part.requires_grad and part.is_floating_point()
        ]
        if not terms:
            raise UsageError(
                f"the model's output is {_a(output)} without a tensor to make a loss of; "
                "give --loss package.module:function"
            )
        return sum(terms[1:], terms[0])

    def _term(self, index, tensor):
        if tensor.dim() == 0:
            return tensor
        if tensor.dim() < 4:
            tensor = tensor.reshape(-1, tensor.shape[-1])
        shape = (tensor.shape[0], *tensor.shape[2:])
        target = self._targets.get((index, shape))
        if target is None:
            target = self._torch.randint(tensor.shape[1], shape, device=tensor.device)
            self._targets[(index, shape)] = target
        return self._torch.nn.functional.cross_entropy(tensor.float(), target)


def _a(value):
    """What it is: "an object of builtins.int", "None"."""
    return "None" if value is None else f"an object of {type(value).__module__}.{type(value).__qualname__}"


def _dtype(tensor):
    return str(tensor.dtype).replace("torch.", "")


def _arguments(kwargs):
    return ", ".join(f"{key}={value!r}" for key, value in kwargs.items())
