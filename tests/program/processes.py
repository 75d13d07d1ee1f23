# SPDX-License-Identifier: Apache-2.0
"""Looks at the ranks of a running program and at what it left, and waits for things without sleeping blindly."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def result_of(out: Path) -> dict:
    """The result that a run left in its output folder."""
    return json.loads((out / "result.json").read_text())


def ranks_of(parent: int) -> list[int]:
    """The pids of the local ranks that a running program started, in rank order."""
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            status = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            words = (entry / "cmdline").read_bytes().decode().split("\0")
        except (OSError, IndexError):
            continue
        if int(status[1]) == parent and "--rank" in words:
            found[int(words[words.index("--rank") + 1])] = int(entry.name)
    return [found[rank] for rank in sorted(found)]


def wait_until(condition, seconds: float = 60, what: str = "the condition"):
    """Polls: returns the condition's first true value, fails after the deadline."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"{what} did not come true within {seconds} s")


def lines_until(process: subprocess.Popen, word: str) -> list[str]:
    """Reads stderr up to a line with this word."""
    lines = []
    for line in process.stderr:
        lines.append(line)
        if word in line:
            return lines
    raise AssertionError(f"the program ended before it said '{word}': {''.join(lines)}")


def end(process: subprocess.Popen, seconds: float) -> tuple[int, str]:
    """Waits for the end and returns exit code and the rest of stderr; never leaves the process behind."""
    try:
        _, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        for pid in [*ranks_of(process.pid), process.pid]:
            os.kill(pid, signal.SIGKILL)
        raise
    return process.returncode, err


def kill_a_rank(process: subprocess.Popen, ranks: int, victim: int) -> str:
    """Kills one of the local ranks of a running program. The program must end in time with code 3 and one message,
    which names the rank; returns that message."""
    pids = wait_until(lambda: len(ranks_of(process.pid)) == ranks and ranks_of(process.pid), what=f"{ranks} ranks")
    begin = time.monotonic()
    os.kill(pids[victim], signal.SIGKILL)
    code, errors = end(process, 60)
    assert code == 3
    assert time.monotonic() - begin < 30
    told = [line for line in errors.splitlines() if line.startswith("mergewise:")]
    assert len(told) == 1, errors
    assert f"rank {victim}" in told[0]
    return told[0]
