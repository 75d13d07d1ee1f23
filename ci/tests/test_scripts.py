# SPDX-License-Identifier: Apache-2.0
"""What ci/test.sh makes of its parts, and that ci/setup.sh has nothing to do the second time."""

import os
import subprocess

import pytest

from .conftest import SOURCE

RUNNER = "#!/usr/bin/env bash\n"


@pytest.fixture
def stubbed(repository):
    """The repository with runners that say what they were asked and succeed."""
    runners = {
        "ci/setup.sh": "",
        "ci/build.sh": 'echo "built $*"\n',
        "bin/ctest": 'echo "ctest $*"; echo "100% tests passed, 0 tests failed out of 7"\n',
        ".venv/bin/python": 'echo "5 passed in 0.10s"\n',
    }
    for name, body in runners.items():
        repository.write(name, RUNNER + body).chmod(0o755)
    return repository


def run_tests(repository, *parts):
    path = f"{repository.root}/bin:{os.environ['PATH']}"
    return subprocess.run(["ci/test.sh", *parts], cwd=repository.root, capture_output=True, text=True,
                          env={**os.environ, "PATH": path})


def test_all_parts_run_and_the_runners_summaries_come_last(stubbed):
    done = run_tests(stubbed)
    assert done.returncode == 0, done.stderr
    last = done.stdout.split("\n\n")[-1].splitlines()
    assert last[0] == "release  100% tests passed, 0 tests failed out of 7"
    assert last[-1] == "python   5 passed in 0.10s"
    assert {line.split()[0] for line in last} == {"release", "asan", "tsan", "python"}


@pytest.mark.parametrize("name, body, line", [
    ("bin/ctest", 'echo "90% tests passed, 1 tests failed out of 10"; exit 8\n',
     "release  90% tests passed, 1 tests failed out of 10"),
    (".venv/bin/python", 'echo "1 failed, 4 passed in 0.1s"; exit 1\n', "python   1 failed, 4 passed in 0.1s"),
    ("ci/build.sh", '[ "$1" != tsan ]\n', "tsan     FAILED: the build"),
])
def test_a_part_that_fails_fails_all_but_the_rest_runs(stubbed, name, body, line):
    stubbed.write(name, RUNNER + body)
    done = run_tests(stubbed)
    assert done.returncode == 1
    assert line in done.stdout.splitlines()
    assert "test: python took" in done.stdout
    assert done.stdout.endswith("test: FAILED\n")


def test_unknown_part_is_a_usage_error(stubbed):
    done = run_tests(stubbed, "everything")
    assert done.returncode == 2
    assert "release asan tsan python" in done.stderr


def test_setup_is_quiet_when_nothing_is_missing():
    for _ in range(2):
        done = subprocess.run(["ci/setup.sh", "--tests"], cwd=SOURCE, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert done.stdout == ""
