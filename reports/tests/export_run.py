# SPDX-License-Identifier: Apache-2.0
"""Runs mergewise_export as a user does, in a Python that has torch, and reads what it writes."""

import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
# Debian's, since the tests' own environment has no torch.
TORCH_PYTHON = os.environ.get("MERGEWISE_TORCH_PYTHON", "/usr/bin/python3")
PROGRAM = Path(os.environ.get("MERGEWISE_PROGRAM", TESTS.parents[1] / "build/release/bin/mergewise"))

_TENSOR = re.compile(
    r"  - \{name: (?P<name>\S+), shape: (?P<shape>\[[\d, ]*\]), layer: (?P<layer>\S+), "
    r"backward_ns: (?P<backward_ns>\d+)(?:, forward_ns: (?P<forward_ns>\d+))?\}"
)


def skip_or_fail(reason):
    """Where continuous integration runs, nothing may be left out in silence."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


def need(*modules):
    command = [TORCH_PYTHON, "-c", "import " + ", ".join(modules)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        skip_or_fail(f"no {TORCH_PYTHON}: {error}")
    if done.returncode != 0:
        skip_or_fail(f"{TORCH_PYTHON} has no {' or no '.join(modules)} (Debian: python3-torch, python3-torchvision)")


def export(*arguments, folder=TESTS, python=TORCH_PYTHON):
    """`folder` is the current one. One thread, so that others on the machine are not slowed down."""
    environment = {**os.environ, "PYTHONPATH": str(TESTS.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [python, "-m", "mergewise_export", "--threads", "1", *map(str, arguments)]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def in_torch(code):
    """What a few lines print."""
    environment = {**os.environ, "PYTHONPATH": str(TESTS.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [TORCH_PYTHON, "-c", code]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=True).stdout


def mergewise(*arguments):
    if not PROGRAM.exists():
        skip_or_fail(f"{PROGRAM} is not built: run ci/build.sh")
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@dataclass
class Exported:
    """A model file, read line by line: the tests' environment has no YAML either."""

    keys: dict
    tensors: list

    @property
    def order(self):
        return [tensor["name"] for tensor in self.tensors]

    def times(self, key):
        return [tensor[key] for tensor in self.tensors]


def read(text):
    head, _, body = text.partition("tensors:  # in ready order\n")
    keys = {key: _scalar(value) for key, value in (line.split(": ", 1) for line in head.splitlines())}
    tensors = []
    for line in body.splitlines():
        match = _TENSOR.fullmatch(line)
        assert match, line
        tensors.append({key: _scalar(value) for key, value in match.groupdict().items() if value is not None})
    return Exported(keys, tensors)


def _scalar(text):
    return json.loads(text) if text[0] in '"[' or text.isdecimal() else text
