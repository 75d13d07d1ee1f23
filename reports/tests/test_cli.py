# SPDX-License-Identifier: Apache-2.0
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from mergewise_report import cli

REPORTS = Path(__file__).parents[1]


@pytest.fixture
def result_file(tmp_path, document):
    document["cases"] = document["cases"][:1]
    file = tmp_path / "result.json"
    file.write_text(json.dumps(document))
    return file


def test_html_writes_a_page_and_nothing_else(result_file, tmp_path, capsys):
    out = tmp_path / "report.html"
    assert cli.main(["html", str(result_file), "-o", str(out)]) == 0
    assert out.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["report.html", "result.json"]
    assert capsys.readouterr() == ("", "")


def test_bad_input_is_one_sentence_and_exit_code_2(tmp_path, capsys):
    bad = tmp_path / "bad.json"
    bad.write_text('{"schema": "mergewise/result/9"}')
    out = tmp_path / "report.html"
    assert cli.main(["html", str(bad), "-o", str(out)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and error.startswith(f"mergewise-report: {bad}: schema is")
    assert not out.exists()


def test_a_bad_second_result_leaves_the_old_page_alone(result_file, tmp_path):
    out = tmp_path / "report.html"
    out.write_text("old")
    assert cli.main(["html", str(result_file), str(tmp_path / "none.json"), "-o", str(out)]) == 2
    assert out.read_text() == "old"


def test_a_place_that_cannot_be_written_is_named(result_file, tmp_path, capsys):
    out = tmp_path / "no" / "report.html"
    assert cli.main(["html", str(result_file), "-o", str(out)]) == 2
    assert f"{out}: cannot be written: No such file or directory" in capsys.readouterr().err


def test_a_write_that_fails_midway_leaves_nothing(tmp_path, monkeypatch):
    out = tmp_path / "report.html"
    out.write_text("old")

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(cli.ResultError, match="No space left"):
        cli.write_atomically(out, "new")
    assert out.read_text() == "old" and list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize("arguments", [[], ["html"], ["html", "a.json"], ["pdf", "a.json"]])
def test_bad_usage_is_exit_code_2(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main(arguments)
    assert caught.value.code == 2 and "usage:" in capsys.readouterr().err


def test_the_package_runs_as_a_module():
    environment = {**os.environ, "PYTHONPATH": str(REPORTS)}
    command = [sys.executable, "-m", "mergewise_report", "html", "--help"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "RESULT" in done.stdout


def test_the_version_is_that_of_the_whole_project():
    root = REPORTS.parent / "CMakeLists.txt"
    if not root.exists():
        pytest.skip("not in a checkout of the whole project")
    project = re.search(r"project\(mergewise VERSION ([\d.]+)", root.read_text())[1]
    assert tomllib.loads((REPORTS / "pyproject.toml").read_text())["project"]["version"] == project
