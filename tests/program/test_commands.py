# SPDX-License-Identifier: Apache-2.0
"""list, describe and plan, against the golden data."""

import json
from pathlib import Path

import pytest

from processes import ROOT

MODELS = sorted((ROOT / "tests/golden/models").glob("*.json"))
PROFILES = sorted((ROOT / "tests/golden/planner").glob("*.json"))
BUILT = {"wfbp", "single", "ddp", "horovod", "mg_wfbp", "omgs", "mergecomp", "tuned", "optimal"}


def test_every_command_explains_itself(program):
    for words in ([], ["list"], ["describe"], ["plan"], ["run"]):
        done = program.run(*words, "--help")
        assert done.returncode == 0
        assert "Usage" in done.stdout or "OPTIONS" in done.stdout


def test_no_command_is_bad_usage(program):
    assert program.run().returncode == 2
    assert program.run("lst").returncode == 2


def test_list_names_every_strategy_with_its_defaults(program):
    strategies = {entry["id"]: entry for entry in program.json("list", "--format", "json")["strategies"]}
    assert set(strategies) == BUILT
    assert {"name": "cap_bytes", "default": "26214400"}.items() <= strategies["ddp"]["options"][0].items()


@pytest.mark.parametrize("golden", MODELS, ids=lambda path: path.stem)
def test_describe_equals_the_recorded_model(program, golden: Path):
    expected = json.loads(golden.read_text())
    shape = expected["input_shape"]
    size = ["--sequence-length" if len(shape) == 2 else "--image-size", shape[-1]]
    described = program.json("describe", expected["name"], *size, "--format", "json")
    assert described["name"] == expected["name"]
    assert described["total_parameters"] == expected["total_parameters"]
    assert described["total_macs"] == expected["total_macs"]
    assert described["ready_order"] == expected["backward_order"]
    assert [(t["name"], t["shape"], t["parameters"]) for t in described["tensors"]] == [
        (t["name"], t["shape"], t["numel"]) for t in expected["tensors"]]


def test_describe_an_unknown_model_suggests_the_nearest(program):
    done = program.run("describe", "resnet5")
    assert done.returncode == 2
    assert "resnet50" in done.stderr


def golden_plans():
    for path in PROFILES:
        profile = json.loads(path.read_text())
        for strategy in profile["expected"]:
            compressed = profile.get("compressor", "none") != "none"
            if strategy in BUILT and not (compressed and strategy == "optimal"):
                yield pytest.param(path, strategy, id=f"{path.stem}-{strategy}")


@pytest.mark.parametrize(("path", "strategy"), list(golden_plans()))
def test_plan_equals_the_expected_plan(program, path: Path, strategy: str):
    expected = json.loads(path.read_text())["expected"][strategy]
    plan = program.json("plan", "--profile", path, "--strategy", strategy, "--format", "json")
    assert plan["iteration_ns"] == pytest.approx(expected["iteration_ns"], rel=1e-9)
    if expected["groups"] is not None:
        assert plan["groups"] == expected["groups"]
    assert plan["schema"] == "mergewise/plan/1"
    assert plan["strategy"] == strategy
    if plan["gap"] is not None:
        assert plan["gap"] >= -1e-12
        assert plan["gap"] == pytest.approx(plan["iteration_ns"] / plan["optimal_iteration_ns"] - 1)


def test_the_command_line_beats_the_profiles_options(program):
    profile = ROOT / "tests/golden/planner/edge_ddp_cap.json"
    plan = program.json("plan", "--profile", profile, "--strategy", "ddp", "--option", "cap_bytes=1000000000",
                        "--option", "first_cap_bytes=1000000000", "--format", "json")
    assert plan["groups"] == [9]


def test_an_option_that_a_strategy_does_not_know_is_refused(program):
    profile = ROOT / "tests/golden/planner/edge_ddp_cap.json"
    done = program.run("plan", "--profile", profile, "--strategy", "wfbp", "--option", "cap_bytes=1")
    assert done.returncode == 2
    assert "cap_bytes" in done.stderr


def test_a_profiles_option_that_a_strategy_does_not_know_is_noted(program):
    profile = ROOT / "tests/golden/planner/edge_ddp_cap.json"
    done = program.run("plan", "--profile", profile, "--strategy", "wfbp")
    assert done.returncode == 0
    assert "cap_bytes" in done.stderr


@pytest.mark.parametrize(("change", "says"), [
    ({"schema": "mergewise/profile/2"}, "mergewise/profile/1"),
    ({"tensors": []}, "tensors"),
    ({"tensors": [{"name": "t", "bytes": 3, "backward_ns": 1}]}, "3"),
    ({"tensors": [{"name": "t", "bytes": -4, "backward_ns": 1}]}, "-4"),
    ({"all_reduce": {"model": "cubic"}}, "cubic"),
    ({"all_reduce": None}, "all_reduce"),
])
def test_a_bad_profile_is_one_sentence_with_its_place(program, tmp_path, change, says):
    profile = json.loads((ROOT / "tests/golden/planner/linear_5_0.json").read_text())
    profile.update(change)
    if profile["all_reduce"] is None:
        del profile["all_reduce"]
    path = tmp_path / "profile.json"
    path.write_text(json.dumps(profile))
    done = program.run("plan", "--profile", path, "--strategy", "wfbp")
    assert done.returncode == 2
    errors = [line for line in done.stderr.splitlines() if "note:" not in line]
    assert len(errors) == 1
    assert says in errors[0]
