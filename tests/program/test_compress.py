# SPDX-License-Identifier: Apache-2.0
"""Compressors on the command line: listed, calibrated, planned with, simulated, run."""

import json

import pytest
from processes import result_of

STRATEGIES = ["wfbp", "single", "omgs", "mergecomp", "optimal"]
GATHERED = {"topk", "dgc", "qsgd", "signsgd", "ef_signsgd", "onebit", "signum", "terngrad"}
SHORT = {"block": 2, "max": 2, "target": 0.5}


def model(tmp_path):
    """Matrices, vectors and an empty tensor, about 0.4 MB."""
    shapes = [[100, 100], [100], [100, 400], [400], [0], [129, 400], [33]]
    tensors = [{"name": f"t{i}", "shape": shape, "backward_ms": 0.1} for i, shape in enumerate(shapes)]
    path = tmp_path / "net.model.yaml"
    path.write_text(json.dumps(
        {"schema": "mergewise/model/1", "name": "net", "batch": 2, "forward_ms": 0.2, "tensors": tensors}))
    return path


@pytest.fixture
def config(tmp_path):
    """Makes a run config for that model on four ranks."""

    def make(**changes):
        model(tmp_path)
        path = tmp_path / "net.yaml"
        path.write_text(json.dumps({
            "name": "net", "workloads": [{"file": "net.model.yaml"}], "strategies": STRATEGIES, "ranks": [4],
            "iterations": SHORT, "seed": 3, **changes}))
        return path

    return make


def ids(program):
    return [entry["id"] for entry in program.json("list", "compressors", "--format", "json")["compressors"]]


def ring_copies(compressor, ranks):
    """What a ring of ranks passes on for each byte of a message."""
    return ranks - 1 if compressor in GATHERED else 2 * (ranks - 1) / ranks


def check_compression(case):
    compression, ranks = case["compression"], case["ranks"]
    planned, message = compression["planned_bytes"], compression["message_bytes"]
    if compression["id"] == "dgc":  # fewer where a sampled threshold finds fewer
        assert 0 < message <= planned
    else:
        assert message == planned
    copies = ring_copies(compression["id"], ranks)
    assert compression["sent_bytes"] == compression["received_bytes"] == pytest.approx(copies * message)
    assert compression["dense_sent_bytes"] == pytest.approx(1.5 * compression["dense_bytes"])
    assert compression["nans"] == compression["infinities"] == 0
    assert compression["planned_compress_ns"] > 0 and compression["planned_decompress_ns"] > 0


def test_every_compressor_is_verified_and_measured_by_every_strategy(program, config, tmp_path):
    out = tmp_path / "out"
    compressors = ids(program)
    assert len(compressors) == 12
    done = program.run("run", config(compressors=compressors), "--out", out)
    assert done.returncode == 0, done.stderr
    result = result_of(out)
    assert result["complete"] is True
    cases = {(case["compressor"], case["strategy"]): case for case in result["cases"]}
    assert set(cases) == {(compressor, strategy) for compressor in compressors for strategy in STRATEGIES}
    for (compressor, _), case in cases.items():
        assert case["status"] == "ok" and case["verified"] is True, case["reason"]
        assert sum(case["breakdown"]["labels_ns"].values()) == pytest.approx(case["breakdown"]["iteration_ns"], rel=1e-6)
        assert result["profiles"][case["profile"]].get("compressor", "none") == compressor
        if compressor == "none":
            assert case["compression"] is None
        else:
            assert case["plan"]["collective"] == ("all_gather" if compressor in GATHERED else "all_reduce")
            check_compression(case)
    calibrated = {calibration["collective"] for calibration in result["calibrations"]}
    assert {f"{what} {c}" for what in ("compress", "decompress") for c in compressors if c != "none"} < calibrated


def test_options_make_cases_of_their_own(program, config, tmp_path):
    out = tmp_path / "out"
    topk = {"topk": {"density": 0.01, "memory": "none", "messages": 2}}
    done = program.run("run", config(strategies=["single", "dear"], compressors=["topk", topk, {"onebit": {"scale": "group"}}]),
                       "--out", out)
    assert done.returncode == 0, done.stderr
    result = result_of(out)
    single = {case["compressor"]: case for case in result["cases"] if case["strategy"] == "single"}
    assert list(single) == ["topk", "topk density=0.01 memory=none messages=2", "onebit scale=group"]
    assert len({case["plan"]["hash"] for case in single.values()}) == 3
    assert len({case["profile"] for case in single.values()}) == 3
    for case in single.values():
        assert case["status"] == "ok" and case["verified"] is True
        check_compression(case)
    assert single["topk"]["compression"]["memory_bytes"] > 0
    assert single["topk density=0.01 memory=none messages=2"]["compression"]["memory_bytes"] == 0
    assert single["onebit scale=group"]["compression"]["error"]["worst_tensor"] > 5
    for case in result["cases"]:
        if case["strategy"] == "dear":
            assert case["status"] == "skipped" and case["samples_ns"] == []
            assert "sends dense gradients only" in case["reason"]


def test_the_command_line_beats_the_configs_compressors(program, config, tmp_path):
    out = tmp_path / "out"
    done = program.run("run", config(strategies=["single"], ranks=[2]), "--out", out, "--compressor", "fp16",
                       "--compressor", "randk,density=0.1,indices=sent")
    assert done.returncode == 0, done.stderr
    assert [case["compressor"] for case in result_of(out)["cases"]] == ["fp16", "randk density=0.1 indices=sent"]


def test_other_strategies_copies_and_micro_batches_are_verified_with_compressors(program, config, tmp_path):
    out = tmp_path / "out"
    done = program.run("run", config(
        strategies=["tuned", "horovod", "ddp", "mg_wfbp", {"optimal": {"unit": "layer"}}], ranks=[2], buffers="copy",
        accumulation=3, compressors=[{"topk": {"density": 0.01}}, {"dgc": {"warm_up": 3, "clip": 1}}, "fp16"]), "--out", out)
    assert done.returncode == 0, done.stderr
    cases = result_of(out)["cases"]
    assert len(cases) == 15
    for case in cases:
        assert case["status"] == "ok" and case["verified"] is True, case["reason"]


def test_one_rank_compresses_too(program, config, tmp_path):
    out = tmp_path / "out"
    done = program.run("run", config(strategies=["single"], ranks=[1], compressors=["qsgd", "bf16"]), "--out", out)
    assert done.returncode == 0, done.stderr
    for case in result_of(out)["cases"]:
        assert case["status"] == "ok" and case["verified"] is True
        assert case["compression"]["sent_bytes"] == 0


@pytest.mark.parametrize(("given", "expected"), [
    (["topkk"], "did you mean 'topk'"),
    (["topk,densty=0.1"], "did you mean 'density'"),
    (["signsgd,memory=residual"], "option 'memory' is 'residual', expected none"),
    (["randk,messages=2"], "say indices: sent too"),
    (["topk", "topk,density=0.001"], "given twice"),
])
def test_a_compressor_that_cannot_be_is_refused_before_anything_starts(program, config, tmp_path, given, expected):
    options = [word for text in given for word in ("--compressor", text)]
    done = program.run("run", config(), "--out", tmp_path / "out", *options)
    assert done.returncode == 2
    assert expected in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.fixture(scope="module")
def calibrated(program, tmp_path_factory):
    """A profile of two ranks with the costs of three compressors."""
    folder = tmp_path_factory.mktemp("calibrated")
    out = folder / "profile.json"
    done = program.run("calibrate", "--file", model(folder), "--ranks", 2, "--largest", "64KiB", "--budget", "8s",
                       "--variants", "back_to_back", "--out", out, "--compressor", "topk,density=0.01",
                       "--compressor", "fp16", "--compressor", "onebit")
    assert done.returncode == 0, done.stderr
    assert "compress topk density=0.01" in done.stdout
    return out


def test_calibrated_compressors_are_in_profile_and_record(calibrated):
    profile = json.loads(calibrated.read_text())
    assert set(profile["compressors"]) == {"topk", "fp16", "onebit"}
    assert profile.get("compressor", "none") == "none"
    record = json.loads(calibrated.with_name("profile.calibration.json").read_text())
    measured = [c["collective"] for c in record["calibrations"]]
    assert measured[:2] == ["compress topk density=0.01", "decompress topk density=0.01"]
    assert {"all_reduce", "all_gather"} < set(measured)
    for calibration in record["calibrations"]:
        assert calibration["points"] and calibration["why"]


def test_a_calibrated_profile_is_planned_and_run_with_its_compressors(program, calibrated, config, tmp_path):
    command = ["plan", "--profile", calibrated, "--strategy", "single", "--format", "json"]
    assert program.json(*command, "--compressor", "topk,density=0.05")["collective"] == "all_gather"
    assert program.json(*command, "--compressor", "fp16")["collective"] == "all_reduce"
    out = tmp_path / "out"
    done = program.run("run", config(workloads=[{"profile": str(calibrated)}], ranks=[2], strategies=["single", "omgs"],
                                     compressors=["topk", "onebit"]), "--out", out)
    assert done.returncode == 0, done.stderr
    result = result_of(out)
    assert all(case["verified"] for case in result["cases"]) and len(result["cases"]) == 4
    assert result["calibrations"] == []


def test_what_a_profile_lacks_names_the_command_that_measures_it(program, calibrated, config, tmp_path):
    hint = "mergewise calibrate --compressor qsgd"
    planned = program.run("plan", "--profile", calibrated, "--strategy", "single", "--compressor", "qsgd")
    assert planned.returncode == 2 and hint in planned.stderr
    done = program.run("run", config(workloads=[{"profile": str(calibrated)}], ranks=[2], compressors=["qsgd"]),
                       "--out", tmp_path / "out")
    assert done.returncode == 2 and hint in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("given", "expected"), [
    (["none"], "costs nothing to measure"),
    (["topk", "topk,density=0.5"], "a profile has one cost for each compressor"),
])
def test_calibrate_refuses_what_a_profile_cannot_hold(program, tmp_path, given, expected):
    options = [word for text in given for word in ("--compressor", text)]
    done = program.run("calibrate", "--out", tmp_path / "out" / "p.json", *options)
    assert done.returncode == 2
    assert expected in done.stderr


def test_a_plan_is_for_one_compressor(program, calibrated):
    done = program.run("plan", "--profile", calibrated, "--strategy", "single", "--compressor", "topk", "--compressor", "fp16")
    assert done.returncode == 2
    assert "a plan is made for one compressor" in done.stderr


def test_simulations_take_the_same_words(program, calibrated, tmp_path):
    config = tmp_path / "s.yaml"
    config.write_text(json.dumps({"name": "s", "workloads": [{"profile": str(calibrated)}], "strategies": ["single"]}))
    out = tmp_path / "out"
    done = program.run("simulate", config, "--out", out, "--compressor", "topk,memory=none", "--compressor", "topk")
    assert done.returncode == 0, done.stderr
    assert [case["compressor"] for case in result_of(out)["cases"]] == ["topk memory=none", "topk"]
    refused = program.run("simulate", config, "--out", out, "--compressor", "qsgd")
    assert refused.returncode == 2
    assert "mergewise calibrate --compressor qsgd" in refused.stderr


def test_the_list_says_what_each_sends_and_may_be_told(program):
    listed = {e["id"]: e for e in program.json("list", "compressors", "--format", "json")["compressors"]}
    assert listed["topk"]["summary"].endswith("all-gather") and listed["randk"]["summary"].endswith("all-reduce")
    memory = next(option for option in listed["topk"]["options"] if option["name"] == "memory")
    assert memory["default"] == "residual" and memory["choices"] == ["residual", "none"]
    text = program.run("list", "compressors").stdout
    assert "memory=residual|none" in text
