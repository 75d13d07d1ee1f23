# SPDX-License-Identifier: Apache-2.0
"""Records the training of a torchvision network: record_trace.py MODEL BATCH IMAGE_SIZE STEPS FILE.

For a Python that has torch, without our packages. A PyTorch that was built without Kineto, like Debian's, writes Chrome
traces without shapes and sequence numbers, though its profiler knows them: its events are then written as Kineto would.
"""

from __future__ import annotations

import json
import sys
import warnings

import torch
import torchvision
from torch.profiler import ProfilerActivity, profile, schedule


def kineto_events(profiled: profile) -> list[dict]:
    """The profiler's events as Kineto writes them; times in microseconds."""
    events = []
    for event in profiled.events():
        arguments: dict[str, object] = {}
        if event.sequence_nr >= 0:
            arguments |= {"Sequence number": event.sequence_nr, "Fwd thread id": event.fwd_thread or 0}
        if event.input_shapes:
            arguments["Input Dims"] = event.input_shapes
        events.append({
            "ph": "X", "cat": "cpu_op", "name": event.name, "pid": 1, "tid": event.thread,
            "ts": event.time_range.start, "dur": event.time_range.end - event.time_range.start, "args": arguments})
    return events


def write(profiled: profile, file: str) -> None:
    if torch.autograd.kineto_available():
        profiled.export_chrome_trace(file)
        return
    with open(file, "w", encoding="utf-8") as output:
        json.dump({"schemaVersion": 1, "traceEvents": kineto_events(profiled)}, output)


def main(model: str, batch: int, image_size: int, steps: int, file: str) -> None:
    torch.set_num_threads(1)
    network = getattr(torchvision.models, model)(weights=None)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01)
    images = torch.randn(batch, 3, image_size, image_size)
    labels = torch.zeros(batch, dtype=torch.long)
    with profile(
            activities=[ProfilerActivity.CPU], record_shapes=True, schedule=schedule(wait=1, warmup=1, active=steps),
            on_trace_ready=lambda profiled: write(profiled, file)) as profiled:
        for _ in range(steps + 2):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(network(images), labels).backward()
            optimizer.step()
            profiled.step()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5])
