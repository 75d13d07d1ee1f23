# SPDX-License-Identifier: Apache-2.0
"""Runs torchvision's networks and tells what they did; for a Python that has torch, without our packages.

One JSON document a line: first the versions; then, for each line {"model", "image_size"} on standard input, the
network's record, or {"refused": why} where PyTorch cannot run it.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections import Counter

import torch
import torchvision
from torch import nn

# Batch normalisation of a single pixel needs more than one sample.
BATCH = 2

# What the nodes of autograd's graph are called in `mergewise describe`. Others only look at memory in another way.
KINDS = {
    "ConvolutionBackward0": "conv", "AddmmBackward0": "linear", "NativeBatchNormBackward0": "norm",
    "ReluBackward0": "activation", "MulBackward0": "activation", "NativeDropoutBackward0": "activation",
    "MaxPool2DWithIndicesBackward0": "pool", "AvgPool2DBackward0": "pool", "AdaptiveAvgPool2DBackward0": "pool",
    "MeanBackward1": "pool", "AddBackward0": "add", "CatBackward0": "concat"}
VIEWS = {"TBackward0", "ReshapeAliasBackward0", "ViewBackward0", "UnsafeViewBackward0", "AccumulateGrad"}


def build(model: str) -> nn.Module:
    """The torchvision network of one of our ids, as for training; "_noaux" leaves auxiliary heads out."""
    name = model.removesuffix("_noaux")
    options = {}
    if not name.startswith(("resnet", "densenet")):
        options["init_weights"] = False  # slow, and values do not matter
    if name.startswith(("googlenet", "inception")):
        options["aux_logits"] = name == model
    return getattr(torchvision.models, name)(weights=None, **options).train()


def watch_modules(net: nn.Module) -> list:
    """A list that fills with (name, output shape, MACs) of each call of a module without children, per sample."""
    calls = []
    times = Counter()

    def hook(name):
        def note(module, _, output):
            times[name] += 1
            macs = 0
            if isinstance(module, (nn.Conv2d, nn.Linear)):
                macs = output[0].numel() * module.weight[0].numel()
            calls.append((name if times[name] == 1 else f"{name}:{times[name]}", list(output.shape[1:]), macs))
        return note

    for name, module in net.named_modules():
        if not list(module.children()):
            module.register_forward_hook(hook(name))
    return calls


def watch_gradients(net: nn.Module) -> tuple[list, list]:
    """A list that fills with names in the order in which gradients are complete, and what must live until then."""
    ready = []
    kept = []
    for name, parameter in net.named_parameters():
        accumulate = parameter.expand_as(parameter).grad_fn.next_functions[0][0]
        accumulate.register_hook(lambda *_, name=name: ready.append(name))
        kept.append(accumulate)
    return ready, kept


def kinds_of_graph(outputs: list) -> Counter:
    """How many nodes of each kind lead to the outputs; a kind that we do not know keeps the node's name."""
    seen = set()
    todo = [output.grad_fn for output in outputs]
    while todo:
        node = todo.pop()
        if node is not None and node not in seen:
            seen.add(node)
            todo.extend(before for before, _ in node.next_functions)
    names = Counter(type(node).__name__ for node in seen)
    kinds = Counter()
    for name in set(names) - VIEWS:
        kinds[KINDS.get(name, name)] += names[name]
    return kinds


def record(model: str, image_size: int) -> dict:
    net = build(model)
    calls = watch_modules(net)
    ready, _kept = watch_gradients(net)
    try:
        out = net(torch.randn(BATCH, 3, image_size, image_size))
    except RuntimeError as error:
        return {"refused": str(error)}
    outputs = [out] if isinstance(out, torch.Tensor) else list(out)
    kinds = kinds_of_graph(outputs)
    target = torch.zeros(BATCH, dtype=torch.long)
    sum(nn.functional.cross_entropy(output, target) for output in outputs).backward()
    return {"tensors": [{"name": name, "shape": list(p.shape)} for name, p in net.named_parameters()],
            "ready_order": ready, "calls": calls, "kinds": kinds}


def main() -> None:
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    print(json.dumps({"torch": torch.__version__, "torchvision": torchvision.__version__}), flush=True)
    for line in sys.stdin:
        print(json.dumps(record(**json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
