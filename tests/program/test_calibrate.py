# SPDX-License-Identifier: Apache-2.0
"""calibrate: the files it leaves, what it refuses, and ranks that die or are told to stop."""

import itertools
import json
import math
import signal
import time

import pytest

from processes import end, kill_a_rank, lines_until

COLLECTIVES = ["all_reduce", "all_gather", "reduce_scatter"]
VARIANTS = ["isolated", "back_to_back", "beside_compute"]
QUICK = ("--largest", "64KiB", "--budget", "6s")


def record_of(profile):
    """The record beside a profile."""
    return json.loads(profile.with_name(profile.stem + ".calibration.json").read_text())


@pytest.fixture
def model(tmp_path):
    """A model file with times only."""
    path = tmp_path / "small.yaml"
    path.write_text(json.dumps({
        "schema": "mergewise/model/1", "name": "small", "batch": 2, "forward_ms": 1.0,
        "tensors": [{"name": f"t{i}", "bytes": 4000, "backward_ms": 0.5} for i in range(4)]}))
    return path


def check_calibration(calibration, largest):
    sizes = [point["bytes"] for point in calibration["points"]]
    assert sizes == sorted(set(sizes))
    assert sizes[0] == 4
    assert sizes[-1] <= largest
    assert any(size % 8 == 4 and size > 4 for size in sizes), "odd sizes"
    for point in calibration["points"]:
        assert point["ns"] > 0
        assert point["repetitions"] > 0
        if point["low_ns"] is not None:
            assert point["low_ns"] <= point["ns"] <= point["high_ns"]
    assert calibration["used"] in ("line", "segments", "points", "nothing")
    assert calibration["used_line"] == (calibration["used"] == "line")
    assert calibration["why"]
    fit, segments = calibration["fit"], calibration["segments"]
    if calibration["used"] == "line":
        assert fit["largest_error"] <= 0.05
    elif calibration["used"] == "segments":
        assert segments["largest_error"] <= 0.10 < math.inf
    assert segments["segments"][0]["from_bytes"] == sizes[0]
    assert segments["segments"][-1]["to_bytes"] == sizes[-1]


def check_rising(used, measured):
    """The points as measured; where they fall, their geometric mean."""
    assert [size for size, _ in used] == [size for size, _ in measured]
    assert all(a[1] <= b[1] * (1 + 1e-12) for a, b in zip(used, used[1:]))
    for time_used, points in itertools.groupby(zip(used, measured), key=lambda pair: pair[0][1]):
        logs = [math.log(ns) for _, (_, ns) in points]
        assert time_used == pytest.approx(math.exp(sum(logs) / len(logs)))


def test_every_collective_is_measured_under_every_condition(program, tmp_path, model):
    profile = tmp_path / "new" / "profile.json"
    done = program.run("calibrate", "--file", model, "--ranks", "2", "--out", profile, *QUICK)
    assert done.returncode == 0, done.stderr
    record = record_of(profile)
    assert record["schema"] == "mergewise/calibration/1"
    assert record["complete"] is True
    assert record["ranks"] == 2
    assert record["profile"] == str(profile)
    assert "Gloo" in record["communicator"]
    assert "products of" in record["load"]
    assert record["layers"]["times"] == "given"
    measured = [(c["collective"], c["variant"]) for c in record["calibrations"]]
    assert measured == [(c, v) for c in COLLECTIVES for v in VARIANTS]
    for calibration in record["calibrations"]:
        check_calibration(calibration, 65536 // (2 if calibration["collective"] == "all_gather" else 1))
    assert record["copies"]["collective"] == "copy"
    for words in ("all_reduce", "beside_compute", "R2", "largest error", "in the profile", str(profile)):
        assert words in done.stdout


def test_its_profile_has_the_costs_that_the_record_says(program, tmp_path, model):
    profile = tmp_path / "profile.json"
    done = program.run("calibrate", "--file", model, "--ranks", "2", "--out", profile, *QUICK)
    assert done.returncode == 0, done.stderr
    document = json.loads(profile.read_text())
    assert document["ranks"] == 2
    assert [tensor["name"] for tensor in document["tensors"]] == ["t0", "t1", "t2", "t3"]
    for calibration in record_of(profile)["calibrations"]:
        if calibration["used"] == "nothing":  # a machine so busy that it had no time
            continue
        cost = document[calibration["collective"]]["variants"][calibration["variant"]]
        if calibration["used"] == "line":
            assert cost["a_ns"] == calibration["fit"]["a_ns"]
        elif calibration["used"] == "points":
            check_rising(cost["points"], [[point["bytes"], point["ns"]] for point in calibration["points"]])
        else:
            assert len(cost["points"]) == 2 * len(calibration["segments"]["segments"])
    assert "pack" not in document
    plan = program.json("plan", "--profile", profile, "--strategy", "mg_wfbp", "--format", "json")
    assert plan["groups"][-1] == 4


def test_an_emulated_link_is_found_again(program, tmp_path):
    """What is held to a line is measured as that line: alone, the machine's own noise stays below the hold."""
    done = program.json("calibrate", "--ranks", "2", "--link", "20000,1", "--largest", "4MiB", "--budget", "20s",
                        "--collectives", "all_reduce", "--variants", "isolated", "--format", "json",
                        "--out", tmp_path / "profile.json")
    assert done["link"] == {"a_us": 20000.0, "gbps": 1.0}
    assert done["link_gbps"] == 1.0
    assert done["profile"] is None
    assert not (tmp_path / "profile.json").exists()
    calibration, = done["calibrations"]
    # Held to the model or, where the machine is slower, longer: never shorter.
    for point in calibration["points"]:
        assert point["ns"] >= 20e6 + 8 * point["bytes"]


def test_copies_are_in_the_profile_where_merging_copies(program, tmp_path, model):
    profile = tmp_path / "profile.json"
    done = program.run("calibrate", "--file", model, "--ranks", "1", "--buffers", "copy", "--out", profile, *QUICK)
    assert done.returncode == 0, done.stderr
    document = json.loads(profile.read_text())
    assert document["pack"] == document["unpack"]
    assert record_of(profile)["calibrations"] == []
    assert "single rank" in done.stdout


def test_real_work_gives_the_layer_times(program, tmp_path):
    model = tmp_path / "tiny.yaml"
    description = program.run("describe", "resnet18", "--image-size", "32", "--format", "yaml")
    assert description.returncode == 0, description.stderr
    model.write_text(description.stdout)
    profile = tmp_path / "profile.json"
    done = program.run("calibrate", "--file", model, "--ranks", "2", "--out", profile, "--collectives", "all_reduce",
                       "--variants", "back_to_back", *QUICK)
    assert done.returncode == 0, done.stderr
    layers = record_of(profile)["layers"]
    assert layers["times"] == "measured"
    assert layers["passes"] >= 1
    document = json.loads(profile.read_text())
    assert document["forward_ns"] == layers["forward_ns"] > 0
    assert sum(t["backward_ns"] for t in document["tensors"]) == pytest.approx(layers["backward_ns"])


def test_an_accelerators_times_are_said_to_be_no_load(program, tmp_path):
    profile = tmp_path / "profile.json"
    done = program.run("calibrate", "--model", "resnet18", "--batch", "8", "--accelerator", "v100", "--ranks", "2",
                       "--out", profile, *QUICK)
    assert done.returncode == 0, done.stderr
    record = record_of(profile)
    assert record["layers"]["times"] == "modelled"
    assert record["layers"]["passes"] == 0
    assert any("no load" in note for note in record["notes"])


def test_sizes_that_the_budget_cannot_hold_are_left_out_and_named(program, tmp_path):
    begin = time.monotonic()
    # 8 MiB take more than a minute on this link.
    done = program.json("calibrate", "--ranks", "2", "--link", "0,0.001", "--largest", "8MiB", "--budget", "6s",
                        "--collectives", "all_reduce", "--variants", "back_to_back", "--format", "json",
                        "--out", tmp_path / "profile.json")
    assert time.monotonic() - begin < 60
    assert done["complete"] is True
    assert done["calibrations"][0]["points"][-1]["bytes"] < 8 << 20
    assert any("left out" in note and "8.0 MiB" in note for note in done["notes"])


def test_ranks_started_by_hand_meet(program, tmp_path):
    (tmp_path / "meet").mkdir()
    out = tmp_path / "profile.json"
    processes = [program.start("calibrate", "--out", out, "--rendezvous", f"file:{tmp_path / 'meet'}", "--interface",
                               "lo", "--collectives", "all_reduce", "--variants", "back_to_back", *QUICK,
                               RANK=str(rank), WORLD_SIZE="3", LOCAL_RANK=str(rank)) for rank in range(3)]
    outputs = [process.communicate(timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], outputs
    assert outputs[1] == outputs[2] == ("", ""), "only rank 0 prints"
    assert record_of(out)["ranks"] == 3


@pytest.mark.parametrize("arguments, words", [
    (["--collectives", "all_reduc"], ["unknown collective", "did you mean 'all_reduce'"]),
    (["--variants", "alone"], ["unknown variant", "isolated"]),
    (["--largest", "2"], ["--largest", "4 bytes"]),
    (["--largest", "1TiB"], ["--largest", "16GiB"]),
    (["--link", "5"], ["--link", "A_US,GBPS"]),
    (["--link", "5,0"], ["--link", "A_US,GBPS"]),
    (["--budget", "0s"], ["0s", "duration"]),
    (["--model", "resnet5"], ["resnet5", "resnet50"]),
    (["--model", "resnet18", "--file", "x.yaml"], ["--file", "--model"]),
    (["--batch", "4"], ["--batch", "--model"]),
    (["--file", "missing.yaml"], ["missing.yaml"]),
    (["--out", "/dev/null/profile.json"], ["--out"]),
])
def test_bad_input_is_one_message(program, arguments, words):
    done = program.run("calibrate", "--ranks", "2", *arguments)
    assert done.returncode == 2, done.stdout
    for word in words:
        assert word in done.stderr
    assert done.stderr.count("mergewise:") <= 1


def test_ranks_under_a_launcher_are_refused(program):
    done = program.run("calibrate", "--ranks", "2", RANK="0", WORLD_SIZE="2")
    assert done.returncode == 2
    assert "--ranks" in done.stderr


LONG = ("--ranks", "3", "--link", "50000,10", "--largest", "1MiB", "--budget", "300s", "--variants", "back_to_back",
        "--deadline", "8s")


@pytest.mark.parametrize("victim", [0, 1, 2])
def test_a_killed_rank_is_named_once(program, tmp_path, victim):
    process = program.start("calibrate", *LONG, "--out", tmp_path / "profile.json")
    lines_until(process, "measuring all_reduce")
    assert "calibrating all_reduce" in kill_a_rank(process, 3, victim)


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGUSR1], ids=lambda s: s.name)
def test_a_signal_keeps_what_was_measured(program, tmp_path, model, sent):
    profile = tmp_path / "profile.json"
    process = program.start("calibrate", *LONG, "--file", model, "--out", profile)
    lines_until(process, "round 1 of")  # of copies
    lines_until(process, "measuring all_reduce, round 1 of")
    process.send_signal(sent)
    code, errors = end(process, 60)
    assert code == 3
    assert "stopped by a signal" in errors
    record = record_of(profile)
    assert record["complete"] is False
    assert [c["collective"] for c in record["calibrations"]] == ["all_reduce"]
    assert record["calibrations"][0]["points"]
    assert "all_reduce" in json.loads(profile.read_text())
    assert program.run("plan", "--profile", profile, "--strategy", "wfbp").returncode == 0


def test_a_profile_that_cannot_be_written_is_refused_before_measuring(program, tmp_path):
    done = program.run("calibrate", "--ranks", "2", "--out", tmp_path)
    assert done.returncode == 2 and "it is a directory" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
