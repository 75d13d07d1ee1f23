# SPDX-License-Identifier: Apache-2.0
"""mergewise_torch on two processes with Gloo: the same gradients as DistributedDataParallel's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from needs import TORCH_PYTHON, skip_or_fail

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PROGRAM = Path(os.environ.get("MERGEWISE_PROGRAM", ROOT / "build/release/bin/mergewise"))
NAMES = ["head.bias", "head.weight", "second.bias", "first.bias", "first.weight", "norm.bias", "norm.weight",
         "conv.bias", "conv.weight"]
PLAN = {"schema": "mergewise/plan/1", "strategy": "mg_wfbp", "groups": [2, 9], "tensors": NAMES,
        "collective": "all_reduce"}
PROFILE = {"schema": "mergewise/profile/1", "name": "small", "forward_ns": 1e6,
           "tensors": [{"name": name, "bytes": 400, "backward_ns": 1e5} for name in NAMES],
           "all_reduce": {"model": "linear", "a_ns": 3e5, "b_ns_per_byte": 1}}


@pytest.fixture(scope="module")
def ranks(tmp_path_factory) -> list[dict]:
    """What each of the two ranks found."""
    try:
        has_torch = subprocess.run([TORCH_PYTHON, "-c", "import torch.distributed as d; assert d.is_available()"],
                                   capture_output=True, text=True, check=False)
    except OSError as error:
        skip_or_fail(str(error))
    if has_torch.returncode != 0:
        skip_or_fail(f"{TORCH_PYTHON} has no torch.distributed (Debian: python3-torch)")
    folder = tmp_path_factory.mktemp("merged")
    plan(folder / "plan.json")
    command = [TORCH_PYTHON, str(HERE / "train_merged.py")]
    started = [
        subprocess.Popen([*command, str(rank), str(folder / "rendezvous"), str(folder / "plan.json")],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for rank in range(2)]
    found = []
    for process in started:
        out, errors = process.communicate(timeout=240)
        assert process.returncode == 0, errors
        found.append(json.loads(out.splitlines()[-1]))
    return found


def plan(file: Path) -> dict:
    """Writes a plan as the program does; returns what is in the file."""
    assert PROGRAM.exists(), f"{PROGRAM} is not built: run ci/build.sh"
    profile = file.with_name("profile.json")
    profile.write_text(json.dumps(PROFILE))
    subprocess.run([str(PROGRAM), "plan", "--profile", str(profile), "--strategy", "optimal", "--output", str(file)],
                   capture_output=True, check=True)
    return json.loads(file.read_text())


def of(ranks: list[dict], scenario: str) -> list:
    for found in ranks:
        outcome = found.get(scenario, {"failed": f"a scenario before {scenario} failed"})
        assert "failed" not in outcome, outcome["failed"]
    return [found[scenario] for found in ranks]


@pytest.mark.parametrize("passes", [1, 3])
@pytest.mark.parametrize("plan", ["wfbp", "single", "three"])
def test_gradients_are_ddps_bit_by_bit(ranks, plan, passes):
    for found in of(ranks, f"{plan} {passes}"):
        assert found["differ"] == []
        assert sorted(found["local"]) == found["all"] == sorted(NAMES), "a rank's own gradients would have passed"


def test_the_programs_own_plan_file_is_applied(ranks, tmp_path):
    written = plan(tmp_path / "plan.json")
    assert written["tensors"] == NAMES and 1 < len(written["groups"]) < len(NAMES)
    assert all(found["differ"] == [] for found in of(ranks, "file"))


def test_training_goes_ddps_way(ranks):
    assert all(found["differ"] == [] for found in of(ranks, "training_is_ddps"))


def test_groups_are_sent_beside_the_backward_pass_one_message_each(ranks):
    for found in of(ranks, "sends_beside_the_backward_pass"):
        *before, last = found["events"]
        assert before[:2] == [5, 40 + 8 + 8] and "gradient of the first layer" in before[2:]
        assert last == 64 + 8 + 8 + 8 + 216 and len(before) == 3


def test_a_plan_in_another_order_than_the_gradients_still_works(ranks):
    assert all(found["differ"] == [] for found in of(ranks, "groups_keep_the_plans_order"))


def test_unused_parameters_are_an_error_that_names_them(ranks):
    for found in of(ranks, "unused_parameters_are_named"):
        assert found["told"].startswith("UnusedParameterError: 2 of 9 parameters got no gradient")
        assert "'head.bias', 'head.weight'" in found["told"]
        assert found["differ"] == [], "the next pass is not disturbed"


def test_all_ranks_begin_with_the_parameters_of_rank_0(ranks):
    assert all(found["differ"] == [] for found in of(ranks, "other_parameters_are_those_of_rank_0"))


def test_without_the_hooks_gradients_are_local(ranks):
    assert all(found["differ"] == [] for found in of(ranks, "after_remove_gradients_are_local"))


@pytest.mark.parametrize(("case", "expected"), [
    ("unknown", "p.json: the model has no parameters of these names: 'layer9.weight'"),
    ("missing", "p.json: trained parameters of the model are not in it: 'head.bias'"),
    ("frozen", "p.json: parameters of the plan are frozen: 'frozen.bias'"),
    ("twice", "p.json: tensors are in it twice: 'head.bias'"),
    ("empty", "p.json: trained parameters of the model are not in it: "),
    ("mixed", "mixes torch.float32 on cpu and torch.float64 on cpu"),
    ("wrapped", "the model is wrapped in DistributedDataParallel"),
    ("ranks", "rank 1 has another plan or model than rank 0"),
])
def test_a_plan_that_does_not_fit_is_refused(ranks, case, expected):
    for found in of(ranks, "refusals"):
        assert found[case].startswith("PlanError: ") and expected in found[case]


def test_passes_in_the_wrong_order_are_refused(ranks):
    for found in of(ranks, "refusals"):
        assert "no backward pass outside no_sync() came before" in found["nothing"]
        assert "got a second gradient before finish()" in found["second"]
    assert all("call init_process_group() first" in found["early"] for found in ranks)


@pytest.mark.parametrize(("change", "expected"), [
    ({"schema": "mergewise/plan/2"}, "schema is 'mergewise/plan/2'"),
    ({"tensors": None}, "has no tensor names: write it with `mergewise plan --output FILE`"),
    ({"tensors": ["a", 1]}, "'tensors' must be a list of names"),
    ({"groups": [2, 8]}, "must rise to the number of tensors, 9, but are 2, 8"),
    ({"groups": [2, 2, 9]}, "must rise"),
    ({"groups": []}, "must rise"),
    ({"groups": [True]}, "'groups' must be a list of numbers"),
    ({"collective": "all_gather"}, "its groups use 'all_gather'"),
    ({"sends": []}, "the plan of 'mg_wfbp' sends groups at times of their own"),
    ({"chunking": {}}, "or in pieces"),
])
def test_a_file_that_is_no_usable_plan_is_refused(tmp_path, change, expected):
    told = load(tmp_path, json.dumps(PLAN | change))
    assert "plan.json: " in told and expected in told


def test_text_that_is_no_json_is_refused(tmp_path):
    assert "plan.json: is not valid JSON" in load(tmp_path, "{")
    assert "expected a JSON object" in load(tmp_path, "[]")


def load(folder: Path, text: str) -> str:
    """The message with which a plan file is refused; the reader needs no torch."""
    (folder / "plan.json").write_text(text)
    code = "import plan, sys\ntry: plan.load_plan(sys.argv[1])\nexcept plan.PlanError as e: print(e)"
    done = subprocess.run([sys.executable, "-c", code, str(folder / "plan.json")], capture_output=True, text=True,
                          check=True, env={"PYTHONPATH": str(ROOT / "reports/mergewise_torch")})
    return done.stdout
