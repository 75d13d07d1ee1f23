# SPDX-License-Identifier: Apache-2.0
"""mergewise_export as a user runs it, on real modules."""

import importlib.util
import json
import math
import shutil
import sys

import pytest
from export_run import TESTS, export, in_torch, mergewise, need, read


@pytest.fixture(scope="module", autouse=True)
def torch():
    need("torch")


def exported(*arguments, **options):
    done = export(*arguments, "-o", "-", "--passes", 3, **options)
    assert done.returncode == 0, done.stderr
    return read(done.stdout), done.stderr


def toy(name, *arguments, shape="8"):
    return exported("--model", f"export_models:{name}", "--batch", 2, "--input-shape", shape, *arguments)


@pytest.fixture(scope="module")
def resnet18(tmp_path_factory):
    need("torchvision")
    file = tmp_path_factory.mktemp("export") / "resnet18.yaml"
    done = export(
        "--model", "torchvision.models:resnet18", "--batch", 2, "--input-shape", "3,64,64", "-o", file, "--passes", 3
    )
    assert done.returncode == 0, done.stderr
    return file, done


def test_resnet18_has_our_tensors_and_ready_order(resnet18):
    model = read(resnet18[0].read_text())
    ours = mergewise("describe", "resnet18", "--image-size", 64, "--format", "json")
    assert len(model.tensors) == 62
    assert model.order == ours["ready_order"]
    assert {t["name"]: t["shape"] for t in model.tensors} == {t["name"]: t["shape"] for t in ours["tensors"]}


def test_resnet18_times_are_measured_and_add_up(resnet18):
    model = read(resnet18[0].read_text())
    assert model.keys["schema"] == "mergewise/model/1" and model.keys["name"] == "resnet18"
    assert model.keys["batch"] == 2 and model.keys["times"] == "measured"
    assert "torch" in model.keys["source"] and "1 thread, median of 3 passes" in model.keys["source"]
    assert min(model.times("backward_ns")) >= 0 and sum(model.times("backward_ns")) > 0
    assert min(model.times("forward_ns")) >= 0 and sum(model.times("forward_ns")) == model.keys["forward_ns"] > 0


def test_mergewise_loads_the_file(resnet18):
    model = read(resnet18[0].read_text())
    loaded = mergewise("describe", resnet18[0], "--format", "json")
    assert loaded["ready_order"] == model.order
    assert loaded["times"] == "measured" and loaded["forward_ns"] == pytest.approx(model.keys["forward_ns"])


def test_the_summary_fits_a_screen_and_says_what_is_next(resnet18):
    file, done = resnet18
    assert done.stdout == "" and len(done.stderr.splitlines()) <= 24
    assert "resnet18, batch 2: 62 tensors, 11,689,512 parameters" in done.stderr
    assert f"mergewise describe {file}" in done.stderr and f"workloads: [{{file: {file}}}]" in done.stderr


def test_auxiliary_heads_are_ready_where_they_ran():
    need("torchvision")
    kwargs = json.dumps({"aux_logits": True, "init_weights": False})
    model, _ = exported("--model", "torchvision.models:googlenet", "--kwargs", kwargs, "--batch", 1)
    assert model.order == mergewise("describe", "googlenet", "--format", "json")["ready_order"]


def test_a_tied_tensor_is_one_and_ready_with_its_last_use():
    model, errors = toy("Tied", "--input-dtype", "long", "--vocab", 50, shape="12")
    assert model.order == ["decoder.bias", "middle.bias", "middle.weight", "embedding.weight"]
    assert "warning" not in errors


def test_parameters_without_a_gradient_are_left_out_and_named():
    model, errors = toy("Partial")
    assert model.order == ["last.bias", "last.weight", "first.bias", "first.weight"]
    assert "frozen (requires_grad is False): frozen.weight, frozen.bias" in errors
    assert "(the loss does not depend on them): unused.weight, unused.bias" in errors


def test_what_the_model_prints_stays_out_of_the_file():
    _, errors = toy("Partial")  # read() takes no other line
    assert "printed by the model" in errors


def test_inputs_and_loss_can_be_the_users():
    inputs = ["--model", "export_models:Heads", "--batch", 2, "--inputs", "export_models:two_inputs"]
    both, _ = exported(*inputs)
    assert sorted(both.order) == ["left.bias", "left.weight", "right.bias", "right.weight"]
    left, _ = exported(*inputs, "--loss", "export_models:left_only")
    assert left.order == ["left.bias", "left.weight"]


@pytest.mark.parametrize("kwargs", ['{"as_dict": true}', '{"as_dict": false}'])
def test_a_loss_in_the_output_is_the_loss(kwargs):
    model, _ = toy("OwnLoss", "--kwargs", kwargs)
    assert model.order == ["used.bias", "used.weight"]


@pytest.mark.parametrize("shape, classes", [([3], 3), ([2, 3], 3), ([2, 7, 4], 4), ([2, 3, 5, 6], 3)])
def test_the_default_loss_knows_where_the_classes_lie(shape, classes):
    lines = [
        "import torch; from mergewise_export.training import DefaultLoss",
        f"print(DefaultLoss(torch)((torch.zeros({shape}, requires_grad=True), 'no tensor')).item())",
    ]
    assert float(in_torch("\n".join(lines))) == pytest.approx(math.log(classes))  # of equal logits


def test_an_unsteady_ready_order_is_said():
    model, errors = toy("Unsteady", "--warmup", 1)
    assert sorted(model.order) == ["a.bias", "a.weight", "b.bias", "b.weight"]
    assert "the ready order was another in " in errors


def test_a_gradient_that_comes_twice_counts_when_it_is_complete():
    model, errors = toy("Twice")
    layers = ["third", "second", "first"]
    assert model.order == [f"{layer}.{kind}" for layer in layers for kind in ("bias", "weight")]
    assert "ready more than once a pass, the last time counts: second.bias, second.weight" in errors


def test_a_parameter_that_the_backward_pass_gives_nothing_is_left_out():
    model, errors = toy("NoGradient")
    assert model.order == ["used.bias", "used.weight"]
    assert "(the loss does not depend on them): ignored" in errors


def test_lazy_parameters_have_shapes_after_the_first_pass():
    model, _ = toy("lazy")
    assert {t["name"]: t["shape"] for t in model.tensors}["0.weight"] == [4, 8]


def test_words_that_yaml_knows_are_names(tmp_path):
    file = tmp_path / "words.yaml"
    arguments = ["--model", "export_models:named_on", "--batch", 2, "--input-shape", 8, "--name", "null", "-o", file]
    assert export(*arguments).returncode == 0
    assert read(file.read_text()).tensors[0]["layer"] == "on"
    assert mergewise("describe", file, "--format", "json")["name"] == "null"


def test_a_model_in_the_current_folder_is_found_and_the_file_lands_there(tmp_path):
    shutil.copy(TESTS / "export_models.py", tmp_path / "mine.py")
    done = export("--model", "mine:Tied", "--batch", 2, "--inputs", "mine:ids", folder=tmp_path)
    assert done.returncode == 2 and "mine has no 'ids'" in done.stderr
    done = export(
        "--model", "mine:Partial", "--batch", 2, "--input-shape", 4, "--kwargs", '{"width": 4}', folder=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "Partial.yaml").exists()


MISTAKES = [
    (["nowhere.at:all"], 2, "there is no module 'nowhere'"),
    (["export_models"], 2, "expected package.module:name"),
    (["export_models:missing"], 2, "export_models has no 'missing'"),
    (["export_models:a_number"], 2, "expected a function or a class to call"),
    (["export_models:a_module"], 2, "is a module already"),
    (["export_models:a_text"], 2, "expected a torch.nn.Module"),
    (["export_models:raises"], 2, "failed: ValueError: first line"),
    (["export_models:exits"], 2, "ended the program (SystemExit: 4)"),
    (["export_models:Partial", "--kwargs", '{"depth": 3}'], 2, "failed: TypeError: "),
    (["export_models:Partial", "--kwargs", "[1]"], 2, "expected a JSON object"),
    (["export_models:half"], 2, "parameter '1.weight' is float16, expected float32"),
    (["export_models:all_frozen"], 2, "no parameter requires a gradient"),
    (["export_models:Partial", "--device", "tpu"], 2, "expected cpu, cuda or cuda:N"),
    (["export_models:Partial", "--input-dtype", "long"], 2, "needs --vocab and --input-shape"),
    (["export_models:Partial", "--vocab", "5"], 2, "add --input-dtype long"),
    (["export_models:Partial", "--inputs", "export_models:a_text"], 2, "expected a tuple or a dict"),
    (["export_models:Partial", "--inputs", "export_models:raises"], 2, "(2) failed: ValueError: first line"),
    (["export_models:Partial", "--inputs", "export_models:raises", "--vocab", "5"], 2, "leave one of them out"),
    (["export_models:Partial", "-o", "no/such/folder.yaml"], 2, "there is no folder no/such"),
    (["export_models:Partial", "-o", "."], 2, "is a folder"),
    (["export_models:Partial", "--input-shape", "1000000000,1000000"], 2, "making 2 inputs of [1000000000, 1000000]"),
    (["export_models:Partial", "--input-shape", "8", "-o", "/dev/full"], 2, "/dev/full: cannot be written"),
    (["export_models:Partial", "--input-shape", "9"], 3, "the forward pass failed: RuntimeError: "),
    (["export_models:Partial", "--input-shape", "8", "--loss", "export_models:raises"], 3, "the loss failed: "),
    (["export_models:Partial", "--input-shape", "8", "--loss", "export_models:a_text"], 3, "the loss is str"),
    (["export_models:Partial", "--input-shape", "8", "--loss", "export_models:no_scalar"], 3, "a tensor of [2, 8]"),
    (["export_models:Partial", "--input-shape", "8", "--loss", "export_models:detached"], 3, "there are no gradients"),
]


@pytest.mark.parametrize("arguments, code, words", MISTAKES, ids=[" ".join(case[0]) for case in MISTAKES])
def test_a_mistake_is_one_sentence(arguments, code, words):
    done = export("--batch", 2, "--model", *arguments)
    assert done.returncode == code, done.stderr
    assert done.stderr.splitlines()[-1].startswith("mergewise-export: ") and words in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr and "second line" not in done.stderr
    assert not list(TESTS.glob("*.yaml"))


def test_a_batch_that_no_model_file_may_have_is_refused():
    done = export("--batch", (1 << 20) + 1, "--model", "export_models:Partial")
    assert done.returncode == 2 and "'1048577': expected a whole number from 1 to 1048576" in done.stderr


def test_debug_shows_where_an_error_comes_from():
    done = export("--batch", 2, "--model", "export_models:raises", "--debug")
    assert done.returncode == 2 and "Traceback" in done.stderr and "in raises" in done.stderr


@pytest.mark.skipif(importlib.util.find_spec("torch") is not None, reason="this Python has torch")
def test_a_python_without_torch_is_named():
    done = export("--batch", 2, "--model", "export_models:Tied", python=sys.executable)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert f"torch is not installed for {sys.executable}" in done.stderr
