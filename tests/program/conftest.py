# SPDX-License-Identifier: Apache-2.0
"""Runs the program, and makes configs small enough for tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

# For processes.py and needs.py, whatever pytest's import mode.
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "support")]

from processes import ROOT  # noqa: E402

PROGRAM = Path(os.environ.get("MERGEWISE_PROGRAM", ROOT / "build/release/bin/mergewise"))

# Whatever started pytest must not look like a launcher to the program.
LAUNCHER_PREFIXES = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_", "OMPI_", "PMI", "SLURM_", "MERGEWISE_LOCAL")


def clean_environment(**extra: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(LAUNCHER_PREFIXES)}
    return {**kept, **extra}


class Program:
    """The program under test; every call has a deadline, so that nothing hangs for ever."""

    path = PROGRAM

    def run(self, *arguments: object, timeout: float = 120, **environment: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [str(PROGRAM), *map(str, arguments)],
            capture_output=True, text=True, timeout=timeout, env=clean_environment(**environment), check=False)

    def json(self, *arguments: object) -> dict:
        done = self.run(*arguments)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def start(self, *arguments: object, **environment: str) -> subprocess.Popen:
        return subprocess.Popen(
            [str(PROGRAM), *map(str, arguments)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=clean_environment(**environment))


@pytest.fixture(scope="session")
def program() -> Program:
    assert PROGRAM.exists(), f"{PROGRAM} is not built: run ci/build.sh"
    return Program()


@pytest.fixture
def make_config(tmp_path: Path):
    """Writes a model of a few small tensors and a run config for it; returns the config's path."""

    def make(name: str = "small", tensors: list[tuple[int, float]] | None = None, **changes: object) -> Path:
        model = {
            "schema": "mergewise/model/1", "name": name, "batch": 2, "forward_ms": 1.0,
            "tensors": [{"name": f"t{i}", "bytes": size, "backward_ms": time_ms}
                        for i, (size, time_ms) in enumerate(tensors or [(4000, 0.5), (400, 0.2), (40000, 1.0)])]}
        (tmp_path / f"{name}.model.yaml").write_text(json.dumps(model))
        config = {
            "name": name, "workloads": [{"file": f"{name}.model.yaml"}],
            "strategies": ["wfbp", "single", "ddp", "mg_wfbp", "optimal"], "ranks": [2],
            "iterations": {"block": 2, "max": 10, "target": 0.5}, "seed": 3, **changes}
        path = tmp_path / f"{name}.yaml"
        path.write_text(json.dumps(config))
        return path

    return make


@pytest.fixture
def long_config(make_config):
    """A run that would go on for minutes: for tests that end it."""
    return make_config("long", iterations={"block": 2, "max": 100000, "target": 1e-9}, deadline="6s",
                       workloads=[{"file": "long.model.yaml"}])
