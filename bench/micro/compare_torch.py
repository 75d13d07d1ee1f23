#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The real work of a network's layers beside PyTorch doing forward and backward of the same network.

Usage: compare_torch.py [--program FILE] [--model resnet50] [--batch 4] [--rounds 5]. One thread each, in turns, on a
quiet machine. Needs torch and torchvision.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

# Before any BLAS is loaded, here or in the program.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

try:
    import torch  # noqa: E402
    import torchvision  # noqa: E402
except ImportError as error:
    sys.exit(f"compare_torch.py: {error}; run it by a Python that has torch and torchvision")

ROOT = Path(__file__).resolve().parents[2]
STEPS = 5  # of PyTorch in a round, after one that does not count

DIFFERENCE = """\
Mergewise does each layer's matrix products (OpenBLAS) and memory passes over buffers that all layers share: it gathers
no windows of a convolution, reduces no statistics, learns nothing and allocates nothing. PyTorch does a training step
without its optimizer: real convolutions (oneDNN, or windows gathered for its BLAS), normalisation and pooling, a loss,
autograd's bookkeeping, memory from its allocator."""


def describe(program: Path, model: str, *arguments: str) -> dict:
    """What `mergewise describe MODEL ... --format json` prints."""
    command = [str(program), "describe", model, *arguments, "--format", "json"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        sys.exit(f"compare_torch.py: {program} cannot be run ({error.strerror}): build it, or name it with --program")
    if done.returncode != 0:
        sys.exit(f"compare_torch.py: `{' '.join(command)}` failed: {done.stderr.strip()}")
    return json.loads(done.stdout)


class TorchSteps:
    """Training steps of a torchvision network, without the optimizer."""

    def __init__(self, name: str, batch: int, input_shape: list[int]) -> None:
        torch.set_num_threads(1)
        torch.manual_seed(1)
        self.model = getattr(torchvision.models, name)()
        self.inputs = torch.randn(batch, *input_shape)
        self.targets = torch.randint(0, 1000, (batch,))
        self.loss = torch.nn.CrossEntropyLoss()
        self.step()

    def step(self) -> float:
        """Milliseconds of forward and backward."""
        self.model.zero_grad(set_to_none=True)
        begin = time.perf_counter()
        outputs = self.model(self.inputs)
        heads = outputs if isinstance(outputs, tuple) else (outputs,)
        sum(self.loss(head, self.targets) for head in heads).backward()
        return (time.perf_counter() - begin) * 1e3

    def round(self) -> float:
        self.step()  # the caches are the other program's
        return statistics.median(self.step() for _ in range(STEPS))


def spread(values: list[float], digits: int) -> str:
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, default=ROOT / "build/release/bin/mergewise")
    parser.add_argument("--model", default="resnet50", help="a network of torchvision (default: resnet50)")
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=5, help="turns of each (default: 5)")
    options = parser.parse_args()
    if options.batch < 1 or options.rounds < 1:
        parser.error("--batch and --rounds are at least 1")
    if not hasattr(torchvision.models, options.model):
        parser.error(f"torchvision has no network '{options.model}'")

    load = os.getloadavg()[0]
    torch_steps = TorchSteps(options.model, options.batch, describe(options.program, options.model)["input_shape"])
    ours, theirs = [], []
    for _ in range(options.rounds):
        measured = describe(options.program, options.model, "--batch", str(options.batch), "--measure")
        ours.append((measured["forward_ns"] + measured["backward_ns"]) / 1e6)
        theirs.append(torch_steps.round())

    print(f"{options.model}, batch {options.batch}, forward + backward on one thread, {options.rounds} rounds; "
          "medians (least to most) in ms")
    print(f"  Mergewise          {spread(ours, 1)}  {measured['blas']}")
    print(f"  PyTorch {torch.__version__:10} {spread(theirs, 1)}")
    ratios = [mine / other for mine, other in zip(ours, theirs)]
    print(f"  Mergewise/PyTorch  {spread(ratios, 2)}")
    settings = " ".join(f"{k}={v}" for k, v in sorted(os.environ.items()) if k.startswith("OPENBLAS_"))
    print(f"Load of the machine before: {load:.1f}. Set for both: {settings}\n{DIFFERENCE}")


if __name__ == "__main__":
    main()
