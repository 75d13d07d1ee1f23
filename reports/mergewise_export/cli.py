# SPDX-License-Identifier: Apache-2.0
"""The command `mergewise-export`. Exit codes: 0 fine, 2 bad usage, 3 a training pass failed."""

import argparse
import contextlib
import json
import math
import os
import re
import sys
import traceback
from pathlib import Path

from mergewise_export import __version__, training
from mergewise_export.errors import ExportError, UsageError, describe, some, told_as
from mergewise_export.passes import CudaClock, HostClock, Trainer, sparse_names
from mergewise_export.summary import summary
from mergewise_export.times import summarise
from mergewise_export.user_model import to_yaml

IMAGES = (3, 224, 224)
# Inputs, targets and the factory's weights are the same at every call.
SEED = 1
# The largest that a model file may have.
MAX_BATCH = 1 << 20


def main(arguments=None):
    options = _parser().parse_args(arguments)
    try:
        _export(options)
        return 0
    except ExportError as error:
        if options.debug:
            traceback.print_exc()
        print(f"mergewise-export: {error}", file=sys.stderr)
        return error.code
    except KeyboardInterrupt:
        return 130


def _parser():
    parser = argparse.ArgumentParser(
        prog="mergewise-export",
        description="Measures training steps of a PyTorch model and writes a Mergewise model file: tensors in the "
        "order in which their gradients are ready, and when.",
        epilog="Exit codes: 0 fine, 2 bad usage, 3 a training pass failed.",
    )
    add = parser.add_argument
    add("--model", required=True, metavar="MODULE:FACTORY", help="makes the model, say torchvision.models:resnet18")
    add("--kwargs", type=_json_object, default={}, metavar="JSON", help="its arguments, say '{\"num_classes\": 10}'")
    add("--batch", type=_batch, required=True, metavar="N", help="samples a step")
    add("--input-shape", type=_shape, metavar="D,D,..", help="of one sample (default: 3,224,224)")
    add("--input-dtype", choices=["float", "long"], help="random numbers (default) or token ids, which need --vocab")
    add("--vocab", type=_positive, metavar="N", help="token ids are 0 to N-1")
    add("--inputs", metavar="MODULE:FUNCTION", help="called with the batch, returns the tuple or dict of all inputs")
    add(
        "--loss",
        metavar="MODULE:FUNCTION",
        help="called with the model's output, returns the loss (default: the output's .loss, else the sum of the cross "
        "entropies of its tensors against random classes)",
    )
    add("--device", metavar="DEVICE", help="cpu, cuda or cuda:N (default: cuda where torch has it)")
    add("--threads", type=_positive, metavar="N", help="of torch on the processor (default: torch's own)")
    add("--passes", type=_positive, default=10, metavar="N", help="that are measured (default: 10)")
    add("--warmup", type=_positive, default=3, metavar="N", help="passes before them (default: 3)")
    add("--name", help="of the model (default: the factory's)")
    add("-o", "--output", metavar="FILE", help="default: NAME.yaml; - is standard output")
    add("--debug", action="store_true", help="show where an error comes from")
    add("--version", action="version", version=f"mergewise-export {__version__}")
    return parser


def _positive(text, largest=1 << 30):
    if not text.isdecimal() or not 1 <= int(text) <= largest:
        raise argparse.ArgumentTypeError(f"'{text}': expected a whole number from 1 to {largest}")
    return int(text)


def _batch(text):
    return _positive(text, MAX_BATCH)


def _shape(text):
    return tuple(_positive(part.strip()) for part in text.split(","))


def _json_object(text):
    try:
        value = json.loads(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"'{text}' is no JSON: {error}") from None
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError(f"'{text}': expected a JSON object, say '{{\"num_classes\": 10}}'")
    return value


def _export(options):
    _check_inputs(options)
    name = options.name or options.model.rpartition(":")[2]
    output = options.output or re.sub(r"[^\w.-]+", "_", name) + ".yaml"
    _check_output(output)
    # What the user's own code prints must not get into the file.
    with contextlib.redirect_stdout(sys.stderr):
        text, report = _measure(options, name)
    try:
        if output == "-":
            sys.stdout.write(text)
            sys.stdout.flush()
        else:
            Path(output).write_text(text, encoding="utf-8")
    except OSError as error:
        where = "standard output" if output == "-" else output
        raise UsageError(f"{where}: cannot be written: {error.strerror or error}") from error
    print(report(output), file=sys.stderr)


def _check_inputs(options):
    random = {"--input-shape": options.input_shape, "--input-dtype": options.input_dtype, "--vocab": options.vocab}
    given = [option for option, value in random.items() if value is not None]
    if options.inputs and given:
        raise UsageError(f"--inputs makes all inputs, so {given[0]} says nothing: leave one of them out")
    if options.input_dtype == "long" and not (options.vocab and options.input_shape):
        raise UsageError("--input-dtype long needs --vocab and --input-shape, say --vocab 30522 --input-shape 128")
    if options.vocab and options.input_dtype != "long":
        raise UsageError("--vocab is for token ids: add --input-dtype long, or leave it out")


def _check_output(output):
    """Before minutes of measuring, not after."""
    path = Path(output)
    if output == "-":
        return
    if path.is_dir():
        raise UsageError(f"{output}: is a folder, expected a file to write")
    if not path.parent.is_dir():
        raise UsageError(f"{output}: cannot be written: there is no folder {path.parent}")
    if not os.access(str(path if path.exists() else path.parent), os.W_OK):
        raise UsageError(f"{output}: cannot be written: permission denied")


def _measure(options, name):
    """The file's text, and a function that makes the summary once it is known where the file is."""
    torch = training.import_torch(options.threads)
    device = training.choose_device(torch, options.device)
    torch.manual_seed(SEED)
    model = training.build_model(torch, options.model, options.kwargs, device)
    inputs = _inputs(torch, options, device)
    loss = training.find("--loss", options.loss) if options.loss else training.DefaultLoss(torch)
    clock = CudaClock(torch) if device.type == "cuda" else HostClock()
    trainer = Trainer(torch, model, inputs, loss, clock)
    for _ in range(options.warmup):
        trainer.run()
    trainer.watch()
    passes = []
    for _ in range(options.passes):
        one, value = trainer.run()
        passes.append(one)
    times = summarise(passes)
    parameters = dict(model.named_parameters())
    warnings = list(_warnings(times, passes, parameters, sparse_names(model), value.item()))
    source = _source(torch, device, len(passes))
    shapes = {tensor: tuple(parameters[tensor].shape) for tensor in times.order}
    text = to_yaml(name, options.batch, source, times, shapes)
    return text, lambda output: summary(name, options.batch, source, times, passes, shapes, warnings, output)


def _source(torch, device, passes):
    parts = [f"mergewise_export {__version__}", f"torch {torch.__version__}"]
    parts.append(f"{device.type} ({training.device_name(torch, device)})")
    if device.type == "cpu":
        parts.append(_count(torch.get_num_threads(), "thread"))
    return ", ".join([*parts, f"median of {_count(passes, 'pass')}"])


def _inputs(torch, options, device):
    if options.inputs:
        return training.user_inputs(torch, options.inputs, options.batch, device)
    shape = options.input_shape or IMAGES
    with told_as(UsageError, f"making {options.batch} inputs of {list(shape)}"):
        if options.input_dtype == "long":
            return training.random_tokens(torch, options.batch, shape, options.vocab, device)
        return training.random_images(torch, options.batch, shape, device)


def _warnings(times, passes, parameters, sparse, loss):
    left_out = [name for name in parameters if name not in set(times.order)]
    frozen = [name for name in left_out if not parameters[name].requires_grad]
    unused = [name for name in left_out if parameters[name].requires_grad]
    repeated = sorted(set().union(*(one.repeated for one in passes)))
    if frozen:
        yield f"left out, frozen (requires_grad is False): {some(frozen)}"
    if unused:
        yield f"left out, without a gradient (the loss does not depend on them): {some(unused)}"
    if times.sometimes:
        yield f"without a gradient in some passes, the median is of the others: {some(times.sometimes)}"
    if times.unsteady_passes:
        yield (
            f"the ready order was another in {times.unsteady_passes} of {len(passes)} passes; the file has that of the "
            "median times"
        )
    if repeated:
        yield f"ready more than once a pass, the last time counts: {some(repeated)}"
    if sparse:
        yield f"sparse gradients, written as if they were dense: {some(sparse)}"
    if not math.isfinite(loss):
        yield f"the loss is {loss}: times with such numbers can differ from a real training's"


def _count(number, noun):
    plural = noun + ("es" if noun.endswith("s") else "s")
    return f"{number} {noun if number == 1 else plural}"
