# SPDX-License-Identifier: Apache-2.0
"""Plans as other programs take them: files with names, and Horovod's groups."""

import json

from processes import ROOT

PROFILE = ROOT / "tests/golden/planner/edge_ddp_cap.json"
NAMES = [tensor["name"] for tensor in json.loads(PROFILE.read_text())["tensors"]]
PLAN = ("plan", "--profile", PROFILE, "--strategy")


def test_output_is_the_plan_with_the_names_of_its_tensors(program, tmp_path):
    file = tmp_path / "plan.json"
    printed = program.json(*PLAN, "wfbp", "--format", "json", "--output", file)
    assert json.loads(file.read_text()) == printed
    assert printed["tensors"] == NAMES
    assert printed["groups"][-1] == len(NAMES)


def test_horovod_gets_names_by_group_and_its_settings(program):
    plan = program.json(*PLAN, "ddp", "--format", "json")
    exported = program.json(*PLAN, "ddp", "--export", "horovod")
    ends = plan["groups"]
    assert exported["schema"] == "mergewise/horovod/1" and exported["strategy"] == "ddp"
    assert exported["groups"] == [NAMES[a:b] for a, b in zip([0, *ends], ends)]
    environment = exported["environment"]
    assert environment["HOROVOD_DISABLE_GROUP_FUSION"] == "1"
    assert int(environment["HOROVOD_FUSION_THRESHOLD"]) >= max(plan_bytes(exported["groups"]))


def plan_bytes(groups):
    sizes = {t["name"]: t["bytes"] for t in json.loads(PROFILE.read_text())["tensors"]}
    return [sum(sizes[name] for name in group) for group in groups]


def test_a_plan_that_horovod_cannot_follow_is_refused(program):
    done = program.run(*PLAN, "horovod", "--export", "horovod")
    assert done.returncode == 2 and "cannot be exported to Horovod" in done.stderr
    assert done.stdout == ""
