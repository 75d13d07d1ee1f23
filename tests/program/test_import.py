# SPDX-License-Identifier: Apache-2.0
"""import: traces and timings become models that load and run."""

import gzip
import json
import subprocess
from pathlib import Path

import pytest
from needs import TORCH_PYTHON, skip_or_fail
from processes import result_of

RECORDED = Path(__file__).parents[1] / "golden/traces"


@pytest.fixture(scope="session")
def trace(tmp_path_factory) -> Path:
    """A trace of three steps of ResNet-18, recorded here and now."""
    file = tmp_path_factory.mktemp("trace") / "resnet18.json"
    recorder = Path(__file__).parent / "record_trace.py"
    command = [TORCH_PYTHON, str(recorder), "resnet18", "2", "64", "3", str(file)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    except OSError as error:
        skip_or_fail(f"no {TORCH_PYTHON}: {error}")
    if done.returncode != 0:
        skip_or_fail(f"{TORCH_PYTHON}: {(done.stderr.strip().splitlines() or ['failed'])[-1]}")
    return file


def ready_shapes(described: dict) -> list[list[int]]:
    shapes = {tensor["name"]: tensor["shape"] for tensor in described["tensors"]}
    return [shapes[name] for name in described["ready_order"]]


def test_a_real_trace_becomes_the_network_that_was_trained(program, trace, tmp_path):
    out = tmp_path / "model.yaml"
    done = program.run("import", "torch-trace", trace, "-o", out)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert "62 tensors, 11689512 parameters, batch 2" in done.stderr
    assert "median of 3 iterations" in done.stderr
    model = program.json("describe", out, "--format", "json")
    assert ready_shapes(model) == ready_shapes(program.json("describe", "resnet18", "--format", "json"))
    assert model["times"] == "measured"
    assert model["forward_ns"] > 0
    assert model["backward_ns"] > 0
    assert model["ready_order"][:3] == ["linear_1.bias", "linear_1.weight", "batch_norm_20.weight"]
    assert model["ready_order"][-1] == "conv_1.weight"


def test_an_imported_model_runs(program, make_config, tmp_path):
    model = tmp_path / "model.yaml"
    assert program.run("import", "torch-trace", RECORDED / "torch_2_4_cpu.json", "-o", model).returncode == 0
    config = make_config(workloads=[{"file": str(model)}], strategies=["wfbp", "mg_wfbp", "optimal"])
    done = program.run("run", config, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    result = result_of(tmp_path / "out")
    assert [case["verified"] for case in result["cases"]] == [True, True, True]


def test_an_imported_trace_of_a_real_network_runs(program, trace, make_config, tmp_path):
    model = tmp_path / "model.yaml"
    assert program.run("import", "torch-trace", trace, "-o", model, "--name", "mine").returncode == 0
    config = make_config(workloads=[{"file": str(model)}], strategies=["mg_wfbp"],
                         iterations={"block": 1, "max": 3, "target": 0.9})
    done = program.run("run", config, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    case = result_of(tmp_path / "out")["cases"][0]
    assert case["workload"]["name"] == "mine"
    assert case["workload"]["times"] == "measured"
    assert case["verified"] is True


def test_the_model_goes_to_standard_output_without_a_file(program, tmp_path):
    done = program.run("import", "timings", RECORDED / "layers.json")
    assert done.returncode == 0, done.stderr
    (tmp_path / "model.yaml").write_text(done.stdout)
    model = program.json("describe", tmp_path / "model.yaml", "--format", "json")
    assert model["ready_order"] == ["layer_3", "middle", "layer_1"]
    assert "3 tensors, 107 parameters, batch 8, forward 30.5 us, backward 61.0 us" in done.stderr


def test_timings_of_a_built_in_network_use_its_tensors(program, tmp_path):
    ready = program.json("describe", "vgg11", "--format", "json")["ready_order"]
    document = {"name": "v", "batch_size": 1, "forward_ms": 1, "ready_ms": {name: i for i, name in enumerate(ready)}}
    file = tmp_path / "timings.json"
    file.write_text(json.dumps(document))
    done = program.run("import", "timings", file)
    assert done.returncode == 2
    assert "--model" in done.stderr
    out = tmp_path / "model.yaml"
    assert program.run("import", "timings", file, "--model", "vgg11", "-o", out).returncode == 0
    assert program.json("describe", out, "--format", "json")["ready_order"] == ready


def test_what_cannot_be_imported_is_one_line_and_no_file(program, trace, tmp_path):
    compressed = tmp_path / "trace.json.gz"
    compressed.write_bytes(gzip.compress(trace.read_bytes()))
    cut = tmp_path / "cut.json"
    cut.write_bytes(trace.read_bytes()[:5000])
    for file, word in [(compressed, "gunzip"), (cut, "cut off"), (tmp_path / "none.json", "cannot be read")]:
        done = program.run("import", "torch-trace", file, "-o", tmp_path / "model.yaml")
        assert done.returncode == 2
        assert word in done.stderr
        assert str(file) in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
        assert not (tmp_path / "model.yaml").exists()


def test_a_batch_out_of_range_is_refused(program, trace):
    for batch in ("0", "-1", "x", str(2**20 + 1)):
        assert program.run("import", "torch-trace", trace, "--batch", batch).returncode == 2


def test_help_tells_how_to_record(program):
    done = program.run("import", "torch-trace", "--help")
    assert done.returncode == 0
    assert "record_shapes=True" in done.stdout
    assert "ready_ms" in program.run("import", "timings", "--help").stdout


def test_a_trace_is_not_overwritten_by_its_model(program, tmp_path):
    trace = tmp_path / "trace.json"
    trace.write_bytes((RECORDED / "torch_2_4_cpu.json").read_bytes())
    done = program.run("import", "torch-trace", trace, "-o", trace)
    assert done.returncode == 2
    assert "is the file to read" in done.stderr
    assert trace.read_bytes() == (RECORDED / "torch_2_4_cpu.json").read_bytes()


def test_a_dash_is_standard_output(program):
    to_stdout = program.run("import", "torch-trace", RECORDED / "torch_2_4_cpu.json")
    assert program.run("import", "torch-trace", RECORDED / "torch_2_4_cpu.json", "-o", "-").stdout == to_stdout.stdout
    assert not Path("-").exists()
