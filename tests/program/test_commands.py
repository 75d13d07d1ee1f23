# SPDX-License-Identifier: Apache-2.0
"""list, describe and plan, against the golden data."""

import json
from pathlib import Path

import pytest

from processes import ROOT

MODELS = sorted((ROOT / "tests/golden/models").glob("*.json"))
PROFILES = sorted((ROOT / "tests/golden/planner").glob("*.json"))
BUILT = {"wfbp", "single", "ddp", "horovod", "mg_wfbp", "omgs", "mergecomp", "dear", "bytescheduler", "tuned",
         "optimal"}
NEXT_FORWARD = {"dear", "bytescheduler"}  # what is sent during the next forward pass may beat the optimum


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
            yield pytest.param(path, strategy, id=f"{path.stem}-{strategy}")


def layers_forward(ends: list[int]) -> list[int]:
    """Tensors per group, the group that the forward pass needs first being the first."""
    return [end - begin for begin, end in zip([0, *ends], ends)][::-1]


@pytest.mark.parametrize(("path", "strategy"), list(golden_plans()))
def test_plan_equals_the_expected_plan(program, path: Path, strategy: str):
    expected = json.loads(path.read_text())["expected"][strategy]
    plan = program.json("plan", "--profile", path, "--strategy", strategy, "--format", "json")
    assert plan["iteration_ns"] == pytest.approx(expected["iteration_ns"], rel=1e-9)
    if "layers_per_group_forward" in expected:
        assert layers_forward(plan["groups"]) == expected["layers_per_group_forward"]
    elif expected["groups"] is not None:
        assert plan["groups"] == expected["groups"]
    assert plan["schema"] == "mergewise/plan/1"
    assert plan["strategy"] == strategy
    if plan["gap"] is not None:
        assert plan["gap"] >= -1e-12 or strategy in NEXT_FORWARD
        assert plan["gap"] == pytest.approx(plan["iteration_ns"] / plan["optimal_iteration_ns"] - 1)


@pytest.fixture
def network(tmp_path: Path) -> Path:
    """A profile of three layers with a weight and a bias each."""
    profile = {
        "schema": "mergewise/profile/1", "name": "network", "forward_ns": 3e6, "ranks": 4,
        "all_reduce": {"model": "linear", "a_ns": 1e5, "b_ns_per_byte": 0.5},
        "all_gather": {"model": "linear", "a_ns": 5e4, "b_ns_per_byte": 1},
        "reduce_scatter": {"model": "linear", "a_ns": 5e4, "b_ns_per_byte": 0.25},
        "tensors": [{"name": f"{layer}.{kind}", "bytes": size, "backward_ns": time, "layer": layer}
                    for layer, time in (("head", 1e6), ("block", 2e6), ("stem", 3e6))
                    for kind, size, time in (("bias", 4000, time), ("weight", 4000000, 0))]}
    path = tmp_path / "network.json"
    path.write_text(json.dumps(profile))
    return path


@pytest.mark.parametrize("strategy", sorted(BUILT))
def test_explain_gives_both_sides_of_every_border_of_the_plan(program, network, strategy):
    command = ["plan", "--profile", network, "--strategy", strategy]
    plan = program.json(*command, "--explain", "--format", "json")
    names = plan["tensors"]
    borders = {decision["border"] for decision in plan["decisions"]}
    assert borders >= set(plan["groups"][:-1])
    for decision in plan["decisions"]:
        assert decision["merged"] == (decision["border"] not in plan["groups"])
        assert [decision["after"], decision["before"]] == names[decision["border"] - 1:decision["border"] + 1]
        assert decision["why"]
    text = program.run(*command, "--explain").stdout
    for decision in plan["decisions"]:
        line = next(line for line in text.splitlines() if f"{decision['after']} | {decision['before']}" in line)
        assert line.split()[0] == str(decision["border"])
        assert ("merge" if decision["merged"] else "split") in line
        if decision["left"]:
            assert f"{decision['left']} = " in line
            assert f"{decision['right']} = " in line
        assert decision["why"] in line
    assert "This plan takes" in text
    assert "the optimum" in text or "only merges" in text
    assert "decisions" not in program.json(*command, "--format", "json")


def test_explain_tells_near_values_apart(program, network):
    profile = json.loads(network.read_text())
    profile["tensors"] = [{"name": "a", "bytes": 4, "backward_ns": 1e9},
                          {"name": "b", "bytes": 4, "backward_ns": 1e5 - 1}]
    network.write_text(json.dumps(profile))
    text = program.run("plan", "--profile", network, "--strategy", "mg_wfbp", "--explain").stdout
    line = next(line for line in text.splitlines() if "a | b" in line)
    left, right = line.split(" < ")
    assert left.split(" = ")[1].split()[0] != right.split(" = ")[1].split()[0]


def test_explain_says_how_far_the_optimum_is(program, network):
    command = ["plan", "--profile", network, "--explain", "--strategy"]
    single = program.json(*command, "single", "--format", "json")
    assert single["gap"] > 0.01
    assert f"{single['gap'] * 100:.2f} % above the optimum" in program.run(*command, "single").stdout
    assert "as fast as the optimum" in program.run(*command, "optimal").stdout


def test_explain_says_that_an_iteration_without_work_is_no_slower_than_the_optimum(program, network):
    profile = json.loads(network.read_text()) | {"forward_ns": 0}
    for collective in ("all_reduce", "all_gather", "reduce_scatter"):
        profile[collective] = {"model": "linear", "a_ns": 0, "b_ns_per_byte": 0}
    for tensor in profile["tensors"]:
        tensor["backward_ns"] = 0
    network.write_text(json.dumps(profile))
    text = program.run("plan", "--profile", network, "--strategy", "wfbp", "--explain").stdout
    assert "as fast as the optimum: there is nothing to compute and nothing to wait for" in text
    assert "not known" not in text


@pytest.mark.parametrize(("option", "expected"), [
    (("--compressor", "topk,density=2", "--strategy", "wfbp"), "option 'density' is '2', expected a number from"),
    (("--strategy", "dear", "--option", "prefetch=2"), "option 'prefetch' is '2', expected 1 or all"),
])
def test_a_range_is_told_as_people_write_it(program, network, option, expected):
    profile = json.loads(network.read_text())
    free = {"model": "linear", "a_ns": 0, "b_ns_per_byte": 0}
    profile["compressors"] = {"topk": {"compress": free, "decompress": free}}
    network.write_text(json.dumps(profile))
    done = program.run("plan", "--profile", network, *option)
    assert done.returncode == 2
    assert expected in done.stderr


@pytest.mark.parametrize("strategy", sorted(BUILT))
def test_unit_layer_keeps_layers_whole_and_is_held_against_their_optimum(program, network, strategy):
    command = ["plan", "--profile", network, "--format", "json", "--option", "unit=layer", "--strategy"]
    plan = program.json(*command, strategy)
    assert all(end % 2 == 0 for end in plan["groups"])
    best = program.json(*command, "optimal")
    assert plan["optimal_iteration_ns"] == best["iteration_ns"]
    assert plan["iteration_ns"] >= best["iteration_ns"] or strategy in NEXT_FORWARD


def test_a_plan_is_written_for_training(program, network, tmp_path):
    command = ["plan", "--profile", network, "--strategy", "optimal"]
    program.json(*command, "--format", "json", "--output", tmp_path / "plan.json")
    assert json.loads((tmp_path / "plan.json").read_text()) == program.json(*command, "--format", "json")


def test_a_plan_is_exported_for_horovod(program, network):
    command = ["plan", "--profile", network, "--strategy", "single"]
    exported = program.json(*command, "--export", "horovod")
    assert exported["groups"] == [program.json(*command, "--format", "json")["tensors"]]
    refused = program.run("plan", "--profile", network, "--strategy", "dear", "--export", "horovod")
    assert refused.returncode == 2
    assert "Horovod" in refused.stderr


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


# What they read is not there either: the output is looked at first.
@pytest.mark.parametrize("command", [
    ("plan", "--profile", "none.json", "--strategy", "wfbp", "--output"),
    ("import", "torch-trace", "none.json", "--output"),
    ("import", "timings", "none.json", "--output"),
    ("reproduce", "all", "--out"),
], ids=lambda command: "-".join(command[:2]))  # fmt: skip
def test_an_output_file_that_cannot_be_written_is_refused_before_any_work(program, tmp_path, command):
    for file, reason in ((tmp_path / "no" / "out.json", "No such file"), (tmp_path, "it is a directory")):
        done = program.run(*command, file)
        assert done.returncode == 2 and done.stdout == ""
        assert f"the output file {file} cannot be written ({reason}" in done.stderr
        assert f"choose another with {command[-1]}\n" in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_device_may_be_an_output_file(program):
    assert program.run("reproduce", "omgs", "--out", "/dev/null").returncode == 0
