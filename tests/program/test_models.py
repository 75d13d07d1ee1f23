# SPDX-License-Identifier: Apache-2.0
"""Model files: what describe writes, configs can run, real work included."""

import json
import subprocess

import pytest
from processes import result_of


def described(program, *arguments: object) -> str:
    done = program.run("describe", *arguments, "--format", "yaml")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_network_describes_itself_in_every_format(program, tmp_path):
    for entry in program.json("list", "models", "--format", "json")["models"]:
        network = entry["id"]
        facts = program.json("describe", network, "--format", "json")
        assert facts["total_macs"] == sum(layer["macs"] for layer in facts["layers"])
        assert 4 * facts["total_parameters"] == sum(layer["parameter_bytes"] for layer in facts["layers"])
        assert facts["total_activation_bytes"] == sum(layer["activation_bytes"] for layer in facts["layers"])
        table = program.run("describe", network).stdout
        assert str(facts["total_macs"]) in table
        assert all(layer["name"] in table and layer["kind"] in table for layer in facts["layers"])
        file = tmp_path / f"{network}.yaml"
        file.write_text(described(program, network))
        again = program.json("describe", file, "--format", "json")
        assert again.pop("tensors") == [tensor for name in facts["ready_order"]
                                        for tensor in facts["tensors"] if tensor["name"] == name]
        facts.pop("tensors")
        assert again == facts


def test_a_described_network_reads_back_as_it_was(program, tmp_path):
    text = described(program, "resnet18", "--batch", 8, "--image-size", 64)
    (tmp_path / "mine.yaml").write_text(text)
    assert described(program, tmp_path / "mine.yaml") == text


def test_what_a_model_file_says_cannot_be_chosen_again(program, tmp_path):
    (tmp_path / "mine.yaml").write_text(described(program, "resnet18"))
    done = program.run("describe", tmp_path / "mine.yaml", "--batch", 4)
    assert done.returncode == 2
    assert "--batch" in done.stderr


@pytest.mark.parametrize("mode", ["timed", "gemm"])
def test_a_described_network_runs(program, make_config, tmp_path, mode):
    (tmp_path / "mine.yaml").write_text(described(program, "resnet18", "--batch", 1, "--image-size", 32))
    config = make_config(workloads=[{"file": "mine.yaml"}], strategies=["ddp"], compute={"mode": mode},
                         iterations={"block": 2, "max": 2, "target": 0.9})
    done = program.run("run", config, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    case = result_of(tmp_path / "out")["cases"][0]
    assert case["verified"] is True
    assert case["workload"]["times"] == ("modelled" if mode == "timed" else "measured")


def test_one_network_at_two_sizes_is_two_workloads(program, make_config, tmp_path):
    sizes = [{"model": "resnet18", "batch": 1, "image_size": size} for size in (32, 64)]
    config = make_config(workloads=sizes, strategies=["single"], ranks=[1],
                         iterations={"block": 2, "max": 2, "target": 0.9})
    done = program.run("run", config, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    result = result_of(tmp_path / "out")
    assert len({case["workload"]["name"] for case in result["cases"]}) == 2
    assert len(result["profiles"]) == 2


def test_two_files_of_one_name_are_refused(program, make_config, tmp_path):
    text = described(program, "resnet18", "--batch", 1, "--image-size", 32)
    for name in ("one.yaml", "two.yaml"):
        (tmp_path / name).write_text(text)
    done = program.run("run", make_config(workloads=[{"file": "one.yaml"}, {"file": "two.yaml"}]),
                       "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "'resnet18'" in done.stderr and "`name`" in done.stderr


def test_an_iteration_longer_than_the_budget_is_refused(program, make_config, tmp_path):
    done = program.run("run", make_config(tensors=[(4000, 25000.0)], budget="4s"), "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "'small' takes 25.0 s" in done.stderr and "budget" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("arguments", [["list"], ["describe", "resnet18"]], ids=["little", "much"])
def test_output_that_cannot_be_written_is_an_error(program, arguments):
    with open("/dev/full", "w") as full:
        done = subprocess.run([program.path, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60,
                              check=False)
    assert done.returncode == 3
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_model_that_takes_no_time_has_no_gap(program, make_config, tmp_path):
    config = make_config(tensors=[(0, 0.0)], strategies=["single", "optimal"])
    model = json.loads((tmp_path / "small.model.yaml").read_text())
    (tmp_path / "small.model.yaml").write_text(json.dumps({**model, "forward_ms": 0}))
    done = program.run("run", config, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "nan" not in done.stdout
