# SPDX-License-Identifier: Apache-2.0
"""Networks as torchvision runs them, and as the program describes them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))  # for needs.py, whatever pytest's import mode

from needs import TORCH_PYTHON, skip_or_fail  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("MERGEWISE_PROGRAM", ROOT / "build/release/bin/mergewise"))


class Torch:
    """One process with torchvision for all tests: starting it takes longer than most networks."""

    def __init__(self) -> None:
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [TORCH_PYTHON, str(Path(__file__).parent / "record_networks.py")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True)
        self.versions = self.answer()

    def record(self, model: str, image_size: int) -> dict:
        self.process.stdin.write(json.dumps({"model": model, "image_size": image_size}) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def answer(self) -> dict:
        line = self.process.stdout.readline()
        if not line:
            self.errors.seek(0)
            raise RuntimeError(f"{TORCH_PYTHON}: {(self.errors.read().strip().splitlines() or ['ended'])[-1]}")
        return json.loads(line)

    def end(self) -> None:
        self.process.communicate()
        self.errors.close()


@pytest.fixture(scope="session")
def torch() -> Iterator[Torch]:
    try:
        torch = Torch()
    except (OSError, RuntimeError) as error:
        skip_or_fail(str(error))
    yield torch
    torch.end()


@pytest.fixture(scope="session")
def describe():
    """`mergewise describe`, as a dictionary, or {"refused": message}."""
    assert PROGRAM.exists(), f"{PROGRAM} is not built: run ci/build.sh"

    def run(model: str, image_size: int) -> dict:
        done = subprocess.run(
            [str(PROGRAM), "describe", model, "--image-size", str(image_size), "--format", "json"],
            capture_output=True, text=True, timeout=60, check=False)
        if done.returncode == 2:
            return {"refused": done.stderr}
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run
