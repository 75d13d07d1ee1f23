#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Exact top-k of 25 M floats at density 0.001 beside PyTorch's torch.topk(x.abs(), k).

Usage: compare_top_k.py [--program FILE] [--isa avx512] [--rounds 5]. One thread each, in turns, and processor
time. Needs torch.
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

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

try:
    import torch  # noqa: E402
except ImportError as error:
    sys.exit(f"compare_top_k.py: {error}; run it by a Python that has torch")

ROOT = Path(__file__).resolve().parents[2]
ELEMENTS = 25_000_000
SELECTED = ELEMENTS // 1000


def top_k_ms(program: Path, isa: str) -> dict[str, float]:
    """Processor time in ms of one run of the benchmarks top_k and nth_element, by their names."""
    pattern = f"^(top_k/{isa}/threads:1|nth_element)/"
    command = [str(program), f"--benchmark_filter={pattern}", "--benchmark_format=json"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        sys.exit(f"compare_top_k.py: {program} cannot be run ({error.strerror}): build it, or name it with --program")
    if done.returncode != 0 or not done.stdout.strip():
        sys.exit(f"compare_top_k.py: `{' '.join(command)}` failed: {done.stderr.strip()}")
    found = {row["name"].split("/")[0]: row["cpu_time"] for row in json.loads(done.stdout)["benchmarks"]}
    if "top_k" not in found:
        sys.exit(f"compare_top_k.py: {program} has no benchmark of the instruction set '{isa}'; see --isa")
    return found


def torch_ms(values: torch.Tensor) -> float:
    """Processor time in ms of the better one of two calls."""
    times = []
    for _ in range(2):
        begin = time.process_time()
        torch.topk(values.abs(), SELECTED)
        times.append((time.process_time() - begin) * 1e3)
    return min(times)


def spread(values: list[float], digits: int) -> str:
    """The median, and the least and the largest."""
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def main() -> None:
    """Runs both in turns and prints what they took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, default=ROOT / "build/release/bin/micro_compressors")
    parser.add_argument("--isa", default="avx512", choices=("baseline", "avx2", "avx512"))
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()

    torch.set_num_threads(1)
    torch.manual_seed(1)
    values = torch.randn(ELEMENTS)
    ours, sorts, theirs = [], [], []
    for _ in range(arguments.rounds):
        found = top_k_ms(arguments.program, arguments.isa)
        ours.append(found["top_k"])
        sorts.append(found["nth_element"])
        theirs.append(torch_ms(values))
    print(f"{SELECTED} of {ELEMENTS} normal floats, one thread, medians of {arguments.rounds} rounds (least to largest):")
    print(f"  top_k ({arguments.isa}): {spread(ours, 2)} ms")
    print(f"  torch.topk(x.abs(), k), torch {torch.__version__}: {spread(theirs, 0)} ms")
    print(f"  std::nth_element on a copy: {spread(sorts, 0)} ms")
    ratios = [other / own for other, own in zip(theirs, ours)]
    print(f"  torch / top_k: {spread(ratios, 0)}")
    print(f"  nth_element / top_k: {spread([other / own for other, own in zip(sorts, ours)], 0)}")


if __name__ == "__main__":
    main()
