# SPDX-License-Identifier: Apache-2.0
"""recommend: its verdicts over a slow and a free link, the files it leaves, what it refuses, ranks that die."""

import json

import pytest

from processes import kill_a_rank, lines_until, result_of


LINK = "10000,10"  # Every message costs 10 ms and hardly more for its bytes.


def eight_tensors(folder):
    """A model file of eight small tensors, with times only."""
    path = folder / "eight.yaml"
    path.write_text(json.dumps({
        "schema": "mergewise/model/1", "name": "eight", "batch": 2, "forward_ms": 1.0,
        "tensors": [{"name": f"t{i}", "bytes": 4000, "backward_ms": 1.0} for i in range(8)]}))
    return path


@pytest.fixture
def model(tmp_path):
    return eight_tensors(tmp_path)


def recommend(program, model, out, *arguments):
    """The verdict as data."""
    return program.json("recommend", "--file", model, "--out", out, "--budget", "13s", "--format", "json", *arguments)


@pytest.fixture(scope="module")
def slow_link(program, tmp_path_factory):
    """The verdict of two ranks over a link where every message costs much, and the folder of its files."""
    folder = tmp_path_factory.mktemp("slow_link")
    return recommend(program, eight_tensors(folder), folder, "--ranks", "2", "--link", LINK), folder


def expect_merging_to_win(verdict):
    """Eight messages of 10 ms each behind 9 ms of work: one or two messages save most of it."""
    assert verdict["schema"] == "mergewise/recommendation/1"
    assert verdict["verdict"] == "merge"
    assert verdict["text"].startswith(f"merge as {verdict['fastest']}: ")
    saved = verdict["saved"]
    assert 0 < saved["low"] <= saved["part"] <= saved["high"] < 1
    assert saved["part"] > 0.3
    assert "link_emulated" in verdict["flags"]
    assert verdict["trust_for_a_cluster"] is False
    measured = [plan for plan in verdict["plans"] if plan["status"] == "ok"]
    assert 2 <= len(measured) <= 4
    assert "wfbp" in [plan["strategy"] for plan in measured]
    assert measured == sorted(measured, key=lambda plan: plan["median_ns"])


def test_merging_wins_where_every_message_costs_much(slow_link):
    expect_merging_to_win(slow_link[0])


def test_four_ranks_come_to_the_same(program, tmp_path, model):
    expect_merging_to_win(recommend(program, model, tmp_path, "--ranks", "4", "--link", LINK))


def test_what_is_not_measured_is_skipped_with_its_prediction(slow_link):
    result = result_of(slow_link[1])
    assert result["complete"] is True
    assert result["name"] == "recommend"
    replayable = ["wfbp", "single", "ddp", "horovod", "mg_wfbp", "omgs", "mergecomp", "dear", "tuned", "optimal"]
    assert sorted(case["strategy"] for case in result["cases"]) == sorted(replayable)
    skipped = [case for case in result["cases"] if case["status"] == "skipped"]
    assert len(skipped) >= 6
    for case in skipped:
        assert "predicted" in case["reason"]
        assert "the same plan as" in case["reason"] or "not among the best 3 in the model" in case["reason"]
        assert case["predicted_ns"] > 0
        assert case["samples_ns"] == []
    measured = [case["plan"] for case in result["cases"] if case["status"] == "ok"]
    distinct = {json.dumps({key: plan[key] for key in plan if key != "strategy"}, sort_keys=True) for plan in measured}
    assert len(distinct) == len(measured)


def test_the_files_are_what_plan_writes_and_reads(program, slow_link):
    verdict, folder = slow_link
    plan = json.loads((folder / "plan.json").read_text())
    assert verdict["plan"] == str(folder / "plan.json")
    assert plan["schema"] == "mergewise/plan/1"
    assert plan["strategy"] == verdict["fastest"]
    assert plan["tensors"] == [f"t{i}" for i in range(8)]
    assert plan["groups"][-1] == 8
    again = program.json("plan", "--profile", folder / "profile.json", "--strategy", verdict["fastest"],
                         "--format", "json")
    assert again["groups"] == plan["groups"]
    assert program.json("plan", "--profile", folder / "profile.json", "--strategy", "single", "--export",
                        "horovod")["groups"] == [plan["tensors"]]


def test_where_work_hides_every_message_the_verdict_follows_its_interval(program, tmp_path):
    """Long work and few bytes over a free link: what is left to save is the machine's noise, so no verdict is fixed."""
    path = tmp_path / "long.yaml"
    path.write_text(json.dumps({
        "schema": "mergewise/model/1", "name": "long", "batch": 2, "forward_ms": 10.0,
        "tensors": [{"name": f"t{i}", "bytes": 400, "backward_ms": 10.0} for i in range(3)]}))
    verdict = recommend(program, path, tmp_path, "--ranks", "2")
    saved = verdict["saved"]
    assert saved["low"] <= saved["part"] <= saved["high"]
    assert saved["distinguishable"] == (saved["low"] > 0 or saved["high"] < 0)
    if not saved["distinguishable"] or abs(saved["part"]) < 0.01:
        assert verdict["verdict"] == "no_difference"
        assert verdict["text"].startswith("it makes no difference: ")
    else:
        assert verdict["verdict"] == ("do_not_merge" if verdict["fastest"] == "wfbp" else "merge")
    assert "one_host" in verdict["flags"]
    assert "link_emulated" not in verdict["flags"]


def test_no_plan_is_measured_less_long_but_for_the_budget(program, tmp_path, model):
    """Else those that end early are measured on another machine, so to speak."""
    done = program.run("recommend", "--file", model, "--ranks", "2", "--link", "5000,10", "--budget", "60s", "--out",
                       tmp_path)
    assert done.returncode in (0, 3), done.stderr  # 3: a busy machine may not measure all within the budget
    measured = [case for case in result_of(tmp_path)["cases"] if case["samples_ns"]]
    assert len(measured) >= 2 or done.returncode == 3
    for case in measured:
        assert case["stopped"] in ("max", "budget"), "never by a narrow interval"
        assert (len(case["samples_ns"]) == 100) == (case["stopped"] == "max")


def test_real_work_is_done_where_shapes_are_known(program, tmp_path):
    model = tmp_path / "tiny.yaml"
    description = program.run("describe", "resnet18", "--image-size", "32", "--format", "yaml")
    assert description.returncode == 0, description.stderr
    model.write_text(description.stdout)
    done = program.run("recommend", "--file", model, "--ranks", "2", "--out", tmp_path, "--budget", "12s")
    assert done.returncode == 0, done.stderr
    cases = result_of(tmp_path)["cases"]
    assert {case["workload"]["times"] for case in cases} == {"measured"}
    for words in ("Predictions: ", "off by at most", "Not to be trusted for a cluster", "(one_host)", "Next:",
                  str(tmp_path / "plan.json"), str(tmp_path / "result.json"), "iteration [95 %]"):
        assert words in done.stdout
    assert any(begin in done.stdout for begin in ("merge as ", "do not merge: ", "it makes no difference: "))


def test_an_accelerators_times_are_held(program, tmp_path):
    done = program.run("recommend", "--model", "resnet18", "--batch", "8", "--accelerator", "v100", "--ranks", "2",
                       "--out", tmp_path, "--budget", "12s")
    assert done.returncode in (0, 3), done.stderr  # 3: a busy machine may not measure all within the budget
    assert {case["workload"]["times"] for case in result_of(tmp_path)["cases"]} == {"modelled"}


def test_ranks_started_by_hand_meet(program, tmp_path, model):
    (tmp_path / "meet").mkdir()
    processes = [program.start("recommend", "--file", model, "--link", LINK, "--budget", "13s", "--out",
                               tmp_path / "out", "--rendezvous", f"file:{tmp_path / 'meet'}", "--interface", "lo",
                               RANK=str(rank), WORLD_SIZE="2", LOCAL_RANK=str(rank)) for rank in range(2)]
    outputs = [process.communicate(timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    assert "merge as " in outputs[0][0]
    assert outputs[1] == ("", ""), "only rank 0 prints"


@pytest.mark.parametrize("arguments, words", [
    ([], ["--model", "--file"]),
    (["--model", "resnet5"], ["resnet5", "resnet50"]),
    (["--model", "resnet18", "--file", "x.yaml"], ["--file", "--model"]),
    (["--model", "resnet18", "--accelerator", "v10"], ["v10", "v100"]),
    (["--file", "missing.yaml"], ["missing.yaml"]),
    (["--model", "resnet18", "--link", "5"], ["--link", "A_US,GBPS"]),
    (["--model", "resnet18", "--budget", "0s"], ["0s", "duration"]),
    (["--model", "resnet18", "--out", "/dev/null/out"], ["--out"]),
])
def test_bad_input_is_one_message(program, arguments, words):
    done = program.run("recommend", "--ranks", "2", *arguments)
    assert done.returncode == 2, done.stdout
    for word in words:
        assert word in done.stderr
    assert done.stderr.count("mergewise:") <= 1


def test_a_budget_that_one_message_overruns_ends_the_run(program, model):
    done = program.run("recommend", "--ranks", "2", "--file", model, "--link", "2000000,10", "--budget", "1s")
    assert done.returncode == 3
    for word in ("budget of 1 s", "all_reduce", "larger budget"):
        assert word in done.stderr
    assert done.stderr.count("mergewise:") == 1


def test_a_single_rank_is_refused(program, model):
    done = program.run("recommend", "--ranks", "1", "--file", model)
    assert done.returncode == 2
    assert "single rank" in done.stderr


@pytest.mark.parametrize("victim", [0, 1])
def test_a_killed_rank_is_named_once(program, tmp_path, model, victim):
    process = program.start("recommend", "--file", model, "--ranks", "2", "--link", "20000,10", "--budget", "300s",
                            "--deadline", "5s", "--out", tmp_path)
    lines_until(process, "warming up")
    kill_a_rank(process, 2, victim)
    assert not (tmp_path / "plan.json").exists()
    if victim != 0:
        statuses = {case["status"] for case in result_of(tmp_path)["cases"]}
        assert statuses == {"partial", "skipped"}


def test_help_says_what_comes_out(program):
    done = program.run("recommend", "--help")
    assert done.returncode == 0
    for words in ("merge as X", "do not merge", "it makes no difference", "plan.json", "On a cluster", "--link"):
        assert words in done.stdout
