# SPDX-License-Identifier: Apache-2.0
"""simulate: what it writes and prints, that it says it is simulated, and what it refuses."""

import json

import pytest
from processes import result_of

STRATEGIES = ["wfbp", "single", "ddp", "horovod", "mg_wfbp", "mergecomp", "dear", "bytescheduler", "tuned", "optimal"]


@pytest.fixture
def make_simulation(make_config, tmp_path):
    """Writes a model of a few small tensors and a simulation of it; returns the config's path."""

    def make(**changes):
        make_config()
        config = {"name": "sim", "workloads": [{"file": "small.model.yaml"}], "strategies": STRATEGIES,
                  "clusters": ["ethernet_10g"], "ranks": [2, 1024], **changes}
        path = tmp_path / "sim.yaml"
        path.write_text(json.dumps(config))
        return path

    return make


def test_every_strategy_at_every_bandwidth(program, make_simulation, tmp_path):
    out = tmp_path / "out"
    done = program.run("simulate", make_simulation(bandwidths_gbps=[1, 100]), "--out", out)
    assert done.returncode == 0, done.stderr
    result = result_of(out)
    assert result["simulated"] is True
    assert result["started"] == ""
    assert list(result["environment"]) == ["mergewise"]
    assert [case["strategy"] for case in result["cases"]] == STRATEGIES * 4
    assert [(case["cluster"], case["gbps"], case["ranks"]) for case in result["cases"][::10]] == [
        ("ethernet_10g", 1, 2), ("ethernet_10g", 1, 1024), ("ethernet_10g", 100, 2), ("ethernet_10g", 100, 1024)]
    for case in result["cases"]:
        assert case["status"] == "ok"
        assert case["verified"] is False
        assert case["samples_ns"] == []
        assert case["compute_alone_ns"] == pytest.approx(2.7e6)
        assert case["predicted_ns"] >= case["compute_alone_ns"] * (1 - 1e-12)
        assert case["plan"]["groups"]
        assert case["profile"] in result["profiles"]
    assert "Simulated" in done.stdout
    assert "(simulated)" in done.stdout


def test_equal_input_gives_the_same_bytes(program, make_simulation, tmp_path):
    config = make_simulation(bandwidths_gbps=[1, 2, 5, 10, 20, 50, 100], ranks=[2, 4, 8, 16, 32, 64, 128])
    files = []
    for name in ["first", "second"]:
        assert program.run("simulate", config, "--out", tmp_path / name).returncode == 0
        files.append((tmp_path / name / "result.json").read_bytes())
    assert files[0] == files[1]


def test_many_cases_are_summed_up_and_written_without_plans(program, make_simulation, tmp_path):
    config = make_simulation(bandwidths_gbps=[1, 2, 5, 10, 20, 50, 100], ranks=[2, 4, 8, 16, 32, 64, 128])
    out = tmp_path / "out"
    done = program.run("simulate", config, "--out", out)
    assert done.returncode == 0, done.stderr
    assert "Simulated in virtual time, nothing was run: 490 cases, 10 strategies on 49 sets" in done.stdout
    result = result_of(out)
    assert len(result["cases"]) == 490
    assert all(case["plan"] is None and case["predicted_spans"] == [] for case in result["cases"])
    assert len(result["profiles"]) == 1
    assert result["cases"][0]["workload"]["bytes"] == 44400


def test_json_prints_what_it_writes(program, make_simulation, tmp_path):
    printed = program.json("simulate", make_simulation(), "--out", tmp_path / "out", "--format", "json")
    assert printed == result_of(tmp_path / "out")


def test_compressors_need_costs_and_then_are_simulated(program, make_simulation, tmp_path):
    done = program.run("simulate", make_simulation(compressors=["topk"]), "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "compressor_costs" in done.stderr
    line = {"model": "linear", "a_ns": 1000, "b_ns_per_byte": 0.1}
    config = make_simulation(compressors=["none", {"topk": {"density": 0.01}}],
                             compressor_costs={"topk": {"compress": line, "decompress": line}})
    done = program.run("simulate", config, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    cases = {(c["compressor"], c["strategy"], c["ranks"]): c for c in result_of(tmp_path / "out")["cases"]}
    assert cases["topk density=0.01", "wfbp", 2]["status"] == "ok"
    assert cases["none", "dear", 2]["status"] == "ok"
    skipped = cases["topk density=0.01", "dear", 2]
    assert skipped["status"] == "skipped"
    assert skipped["reason"]
    assert skipped["predicted_ns"] is None
    assert skipped["reason"] in done.stdout


def test_a_profile_without_clusters_has_its_own_costs(program, tmp_path):
    profile = {
        "schema": "mergewise/profile/1", "name": "mine", "forward_ns": 1e6, "ranks": 8,
        "tensors": [{"name": "a", "bytes": 4000, "backward_ns": 1e6}],
        "all_reduce": {"model": "linear", "a_ns": 5e5, "b_ns_per_byte": 0}}
    (tmp_path / "mine.json").write_text(json.dumps(profile))
    (tmp_path / "own.yaml").write_text("name: own\nworkloads: [{profile: mine.json}]\nstrategies: [wfbp, dear]\n")
    done = program.run("simulate", tmp_path / "own.yaml", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    wfbp, dear = result_of(tmp_path / "out")["cases"]
    assert (wfbp["ranks"], wfbp["cluster"], wfbp["predicted_ns"]) == (8, None, 2.5e6)
    assert dear["status"] == "skipped"
    assert "reduce_scatter" in dear["reason"]


def test_where_nothing_can_be_simulated_it_fails_with_the_reason(program, make_simulation, tmp_path):
    done = program.run("simulate", make_simulation(clusters=["v100_nvlink"], ranks=[12]), "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "no case could be simulated: cluster 'v100_nvlink' has 8 GPUs a node" in done.stderr


@pytest.mark.parametrize(("changes", "message"), [
    ({"ranks": [0]}, "expected an integer from 1"),
    ({"clusters": ["ethernet_10"]}, "did you mean 'ethernet_1"),
    ({"strategies": [{"ddp": {"cap": 1}}]}, "cap"),
    ({"seed": 1}, "unknown key 'seed'"),
    ({"pack": {"model": "linear", "a_ns": -1, "b_ns_per_byte": 0}}, "a number from 0 to"),
])
def test_wrong_configs_are_refused_before_anything_is_written(program, make_simulation, tmp_path, changes, message):
    done = program.run("simulate", make_simulation(**changes), "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "sim.yaml:" in done.stderr
    assert message in done.stderr
    assert not (tmp_path / "out").exists()


def test_clusters_are_listed_with_what_they_are(program):
    listed = {entry["id"]: entry for entry in program.json("list", "clusters", "--format", "json")["clusters"]}
    assert "10 Gbit/s Ethernet" in listed["ethernet_10g"]["summary"]
