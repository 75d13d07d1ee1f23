# SPDX-License-Identifier: Apache-2.0
"""run: what it leaves behind, and what it refuses before anything starts."""

import json
import os
import tempfile
from pathlib import Path

import pytest
from needs import skip_or_fail
from processes import result_of


def test_every_strategy_is_verified_and_measured(program, make_config, tmp_path):
    out = tmp_path / "out"
    done = program.run("run", make_config(), "--out", out)
    assert done.returncode == 0, done.stderr
    result = result_of(out)
    assert result["schema"] == "mergewise/result/1"
    assert result["complete"] is True
    assert [case["strategy"] for case in result["cases"]] == ["wfbp", "single", "ddp", "mg_wfbp", "optimal"]
    for case in result["cases"]:
        assert case["status"] == "ok"
        assert case["verified"] is True
        assert len(case["samples_ns"]) == 10
        labels = case["breakdown"]["labels_ns"]
        assert sum(labels.values()) == pytest.approx(case["breakdown"]["iteration_ns"], rel=1e-6)
        assert case["tax_ns"] is None  # held time cannot show it
        assert case["profile"] in result["profiles"]
    assert "optimal" in done.stdout
    trace = json.loads((out / "trace.json").read_text())
    assert trace["traceEvents"]


SIMULATED_ONLY = ["bytescheduler"]


def replayable_strategies(program) -> list[str]:
    listed = program.json("list", "strategies", "--format", "json")
    return [strategy["id"] for strategy in listed["strategies"] if strategy["id"] not in SIMULATED_ONLY]


@pytest.mark.parametrize("changes", [{}, {"buffers": "copy", "accumulation": 3}], ids=["slices", "copies and micro-batches"])
def test_every_replayable_strategy_runs_with_the_costs_of_its_collectives(program, make_config, tmp_path, changes):
    out = tmp_path / "out"
    strategies = replayable_strategies(program)
    done = program.run("run", make_config(strategies=strategies, **changes), "--out", out)
    assert done.returncode == 0, done.stderr
    result = result_of(out)
    assert [case["strategy"] for case in result["cases"]] == strategies
    for case in result["cases"]:
        assert case["status"] == "ok" and case["verified"] is True, case["reason"]
        assert case["predicted_ns"] >= changes.get("accumulation", 1) * 2.7e6  # forward 1 ms, backward 1.7 ms
        searched = case["strategy"] in ("mergecomp", "tuned")
        assert bool(case["probes"]) == searched
        assert all(probe["iteration_ns"] > 0 for probe in case["probes"])
    dear = next(case for case in result["cases"] if case["strategy"] == "dear")
    assert {send["collective"] for send in dear["plan"]["sends"]} == {"reduce_scatter", "all_gather"}
    calibrated = {calibration["collective"] for calibration in result["calibrations"]}
    assert calibrated == {"all_reduce", "reduce_scatter", "all_gather"}


def test_only_collectives_that_a_strategy_sends_with_are_calibrated(program, make_config, tmp_path):
    out = tmp_path / "out"
    done = program.run("run", make_config(strategies=["single"]), "--out", out)
    assert done.returncode == 0, done.stderr
    assert [calibration["collective"] for calibration in result_of(out)["calibrations"]] == ["all_reduce"]


def test_a_strategy_that_is_simulated_only_is_refused_before_anything_starts(program, make_config, tmp_path):
    done = program.run("run", make_config(strategies=["single", *SIMULATED_ONLY]), "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "plans of strategy 'bytescheduler' cannot be replayed" in done.stderr
    assert "mergewise simulate" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_searching_strategy_stays_in_the_budget(program, make_config, tmp_path):
    out = tmp_path / "out"
    config = make_config(strategies=["mergecomp"], budget="6s", tensors=[(4000, 0.5)] * 40,
                         iterations={"block": 5, "max": 10, "target": 0.5})
    done = program.run("run", config, "--out", out)
    assert done.returncode == 0, done.stderr
    case = result_of(out)["cases"][0]
    assert case["status"] == "ok"
    assert case["probes"] or "search_cut_short" in case["flags"]


def test_a_profile_with_other_micro_batches_than_the_config_is_refused(program, make_config, tmp_path):
    profile = {"schema": "mergewise/profile/1", "name": "p", "forward_ns": 1000, "accumulation": 4,
               "all_reduce": {"model": "linear", "a_ns": 1, "b_ns_per_byte": 1},
               "tensors": [{"name": "t", "bytes": 8, "backward_ns": 1000}]}
    (tmp_path / "p.json").write_text(json.dumps(profile))
    config = make_config(workloads=[{"profile": "p.json"}], strategies=["single"])
    done = program.run("run", config, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "set `accumulation: 4`" in done.stderr


def test_dear_says_which_cost_a_profile_lacks(program, make_config, tmp_path):
    profile = {"schema": "mergewise/profile/1", "name": "p", "forward_ns": 1000,
               "all_reduce": {"model": "linear", "a_ns": 1, "b_ns_per_byte": 1},
               "tensors": [{"name": "t", "bytes": 8, "backward_ns": 1000}]}
    (tmp_path / "p.json").write_text(json.dumps(profile))
    config = make_config(workloads=[{"profile": "p.json"}], strategies=["dear"])
    done = program.run("run", config, "--out", tmp_path / "out")
    assert done.returncode != 0
    assert "no cost of 'reduce_scatter', which strategy 'dear' needs" in done.stderr


def test_the_rendezvous_directory_is_removed(program, make_config, tmp_path):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    done = program.run("run", make_config(strategies=["single"]), "--out", tmp_path / "out", TMPDIR=str(temporary))
    assert done.returncode == 0, done.stderr
    assert list(temporary.iterdir()) == []


def test_one_rank_communicates_nothing(program, make_config, tmp_path):
    out = tmp_path / "out"
    done = program.run("run", make_config(ranks=[1], strategies=["wfbp", "optimal"]), "--out", out)
    assert done.returncode == 0, done.stderr
    for case in result_of(out)["cases"]:
        assert case["verified"] is True
        assert case["predicted_ns"] == pytest.approx(2.7e6)  # forward 1 ms, backward 1.7 ms


def test_cases_with_fewer_ranks_use_the_first(program, make_config, tmp_path):
    out = tmp_path / "out"
    done = program.run("run", make_config(ranks=[1, 2, 3], strategies=["single"]), "--out", out)
    assert done.returncode == 0, done.stderr
    assert [case["ranks"] for case in result_of(out)["cases"]] == [1, 2, 3]
    assert all(case["verified"] for case in result_of(out)["cases"])


@pytest.mark.parametrize("tensors", [[(4000, 1.0)], [(0, 1.0)], [(0, 0.5), (400, 0.0), (0, 0.5)], [(4, 0.0)]],
                         ids=["one tensor", "one empty tensor", "empty tensors", "no time"])
def test_odd_models_run(program, make_config, tmp_path, tensors):
    out = tmp_path / "out"
    done = program.run("run", make_config(tensors=tensors), "--out", out)
    assert done.returncode == 0, done.stderr
    assert all(case["verified"] for case in result_of(out)["cases"])


@pytest.mark.parametrize("buffers", ["slice", "copy"])
def test_gemm_measures_real_work_and_its_tax(program, make_config, tmp_path, buffers):
    out = tmp_path / "out"
    config = make_config(workloads=[{"model": "resnet18", "batch": 1, "image_size": 32}], strategies=["ddp"],
                         compute={"mode": "gemm"}, buffers=buffers, iterations={"block": 2, "max": 2, "target": 0.9})
    done = program.run("run", config, "--out", out)
    assert done.returncode == 0, done.stderr
    case = result_of(out)["cases"][0]
    assert case["verified"] is True
    assert case["tax_ns"] is not None
    assert (case["breakdown"]["labels_ns"]["pack"] > 0) == (buffers == "copy")


def test_gemm_that_all_ranks_of_the_host_cannot_hold_is_refused_before_anything_runs(program, make_config, tmp_path):
    config = make_config(workloads=[{"model": "resnet18", "batch": 2**20, "image_size": 64}], strategies=["ddp"],
                         ranks=[2], compute={"mode": "gemm"})
    done = program.run("run", config, "--out", tmp_path / "out")
    assert done.returncode == 3
    assert "for each of 2 ranks on this host" in done.stderr
    assert "connecting" not in done.stdout + done.stderr


def test_an_emulated_link_is_said_and_counted(program, make_config, tmp_path):
    out = tmp_path / "out"
    config = make_config(link={"a_us": 2000, "gbps": 1}, strategies=["wfbp", "single"])
    done = program.run("run", config, "--out", out)
    assert done.returncode == 0, done.stderr
    for case in result_of(out)["cases"]:
        assert "link_emulated" in case["flags"]
        groups = len(case["plan"]["groups"])
        assert case["link"]["collectives"] == groups * len(case["samples_ns"])
        # The link alone takes this long: a hold that is missing would show.
        assert min(case["samples_ns"]) >= groups * 2e6


def test_the_same_seed_gives_the_same_order(program, make_config, tmp_path):
    config = make_config()
    orders = []
    for out in (tmp_path / "a", tmp_path / "b"):
        assert program.run("run", config, "--out", out).returncode == 0
        orders.append(result_of(out)["order"])
    assert orders[0] == orders[1]


def test_launches_are_kept_apart_and_compared(program, make_config, tmp_path):
    out = tmp_path / "out"
    done = program.run("run", make_config(strategies=["single", "ddp"]), "--launches", 2, "--out", out)
    assert done.returncode == 0, done.stderr
    comparison = json.loads((out / "launches.json").read_text())
    assert [case["strategy"] for case in comparison["cases"]] == ["single", "ddp"]
    for position, case in enumerate(comparison["cases"]):
        medians = [result_of(out / f"launch-{i}")["cases"][position]["summary"]["median_ns"] for i in (1, 2)]
        assert case["medians_ns"] == medians
        assert case["spread"] == pytest.approx((max(medians) - min(medians)) / (sum(medians) / 2))


def test_a_budget_ends_the_run_in_time_and_says_so(program, make_config, tmp_path):
    out = tmp_path / "out"
    config = make_config(iterations={"block": 2, "max": 100000, "target": 1e-9}, budget="3s")
    done = program.run("run", config, "--out", out, timeout=60)
    stopped = {case["stopped"] for case in result_of(out)["cases"]}
    assert stopped == {"budget"}
    assert done.returncode in (0, 3)  # 3 when a strategy got no turn at all on a slow machine


def test_a_profile_is_a_workload_with_its_own_costs(program, tmp_path, make_config):
    profile = {"schema": "mergewise/profile/1", "name": "given", "forward_ns": 1000000,
               "tensors": [{"name": "a", "bytes": 400, "backward_ns": 500000}],
               "all_reduce": {"model": "linear", "a_ns": 123456, "b_ns_per_byte": 1}}
    (tmp_path / "given.json").write_text(json.dumps(profile))
    out = tmp_path / "out"
    done = program.run("run", make_config(workloads=[{"profile": "given.json"}], strategies=["single"]), "--out", out)
    assert done.returncode == 0, done.stderr
    result = result_of(out)
    assert result["cases"][0]["predicted_ns"] == pytest.approx(1500000 + 123456 + 400)
    assert result["calibrations"] == []


def test_a_profile_of_half_elements_cannot_be_replayed(program, tmp_path, make_config):
    profile = {"schema": "mergewise/profile/1", "name": "half", "forward_ns": 0,
               "tensors": [{"name": "odd", "bytes": 10, "backward_ns": 1}],
               "all_reduce": {"model": "linear", "a_ns": 1, "b_ns_per_byte": 1}}
    (tmp_path / "half.json").write_text(json.dumps(profile))
    done = program.run("run", make_config(workloads=[{"profile": "half.json"}]), "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "'odd'" in done.stderr


@pytest.mark.parametrize(("changes", "says"), [
    ({"strategies": ["mgwfbp"]}, "mg_wfbp"),
    ({"ranks": [0]}, "0"),
    ({"workloads": [{"model": "resnet50"}]}, "batch"),
    ({"workloads": [{"file": "absent.yaml"}]}, "absent.yaml"),
    ({"collective": "nccl"}, "gloo"),
    ({"extra": 1}, "extra"),
    ({"compute": {"mode": "gemm"}}, "times"),
])
def test_bad_input_is_one_message_exit_2_and_nothing_written(program, make_config, tmp_path, changes, says):
    out = tmp_path / "out"
    done = program.run("run", make_config(**changes), "--out", out)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert says in done.stderr
    assert not out.exists()


@pytest.mark.parametrize("text", ["a: [", "a: 1\na: 2\n", "x: y\n" * 300000, ""],
                         ids=["syntax", "duplicate key", "over 1 MiB", "empty"])
def test_a_file_that_is_no_config_is_refused(program, tmp_path, text):
    config = tmp_path / "config.yaml"
    config.write_text(text)
    done = program.run("run", config, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "config.yaml" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_model_without_tensors_is_refused(program, make_config, tmp_path):
    config = make_config()
    (tmp_path / "small.model.yaml").write_text(
        "{schema: mergewise/model/1, name: none, batch: 1, forward_ms: 1, tensors: []}")
    done = program.run("run", config, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "tensor" in done.stderr


def test_an_output_directory_that_cannot_be_made_is_named(program, make_config, tmp_path):
    (tmp_path / "file").write_text("in the way")
    done = program.run("run", make_config(), "--out", tmp_path / "file/out")
    assert done.returncode == 2
    assert str(tmp_path / "file/out") in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.fixture
def small_disk():
    """A file system of 64 KiB."""
    with tempfile.TemporaryDirectory() as folder:
        if os.system(f"mount -t tmpfs -o size=64k none {folder} 2>/dev/null") != 0:
            skip_or_fail("mounting a small file system needs root")
        yield Path(folder)
        os.system(f"umount -l {folder}")


def test_a_full_disk_is_named(program, make_config, small_disk):
    (small_disk / "filler").write_bytes(b"x" * 60000)
    done = program.run("run", make_config(), "--out", small_disk / "out")
    assert done.returncode in (2, 3)
    assert str(small_disk) in done.stderr
    assert "space" in done.stderr


def test_more_ranks_than_there_are_is_refused(program, make_config, tmp_path):
    done = program.run("run", make_config(ranks=[4]), "--ranks", 2, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "4 ranks" in done.stderr


def test_ranks_under_a_launcher_is_refused(program, make_config, tmp_path):
    done = program.run("run", make_config(), "--ranks", 2, "--out", tmp_path / "out",
                       RANK="0", WORLD_SIZE="2", LOCAL_RANK="0")
    assert done.returncode == 2
    assert "--ranks" in done.stderr
