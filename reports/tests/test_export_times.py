# SPDX-License-Identifier: Apache-2.0
"""What mergewise_export makes of recorded passes, and the CUDA clock on a torch that is none."""

import ast
import os
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
from mergewise_export import __version__
from mergewise_export.errors import PassError
from mergewise_export.passes import CudaClock
from mergewise_export.times import Pass, summarise
from mergewise_export.training import import_torch
from mergewise_export.user_model import scalar

REPORTS = Path(__file__).parents[1]


def one(ready, backward=None, forward=100, begins=()):
    return Pass(forward, max(ready.values(), default=0) if backward is None else backward, ready, list(begins))


def test_backward_times_are_differences_of_median_ready_times():
    times = summarise([one({"b": 10, "a": 30}), one({"b": 12, "a": 90}), one({"b": 11, "a": 31})])
    assert times.order == ["b", "a"] and times.backward == [11, 20]
    assert times.forward_ns == 100 and times.backward_ns == 31 and times.unsteady_passes == 0


def test_a_median_that_falls_counts_as_no_time():
    times = summarise([one({"c": 10, "b": 8, "a": 12})])  # stamps of two streams
    assert times.backward == [10, 0, 2] and times.backward_ns == 12


def test_work_after_the_last_gradient_is_the_last_tensors():
    times = summarise([one({"b": 10, "a": 30}, backward=45)])
    assert times.backward == [10, 35] and times.tail_ns == 15 and sum(times.backward) == times.backward_ns


def test_an_unsteady_order_is_that_of_the_medians():
    times = summarise([one({"b": 10, "a": 30}), one({"a": 12, "b": 15}), one({"b": 9, "a": 20})])
    assert times.order == ["b", "a"] and times.unsteady_passes == 1


def test_a_gradient_of_some_passes_is_kept_and_named():
    times = summarise([one({"b": 10, "a": 30}), one({"a": 30}), one({"b": 10, "a": 30})])
    assert times.order == ["b", "a"] and times.sometimes == ["b"] and times.unsteady_passes == 0


def test_forward_time_belongs_to_the_first_ready_tensor_of_the_module_that_runs():
    begins = [(("a.weight", "a.bias"), 10), (("frozen",), 30), (("b.weight", "b.bias"), 60)]
    ready = {"b.bias": 5, "b.weight": 6, "a.weight": 8, "a.bias": 9}
    times = summarise([one(ready, begins=begins)])
    assert dict(zip(times.order, times.forward)) == {"a.weight": 60, "a.bias": 0, "b.bias": 40, "b.weight": 0}


def test_a_module_that_is_called_twice_has_both_times():
    begins = [(("a",), 0), (("b",), 20), (("a",), 50)]
    times = summarise([one({"b": 1, "a": 2}, begins=begins)])
    assert times.forward == [30, 70]


def test_a_module_that_a_checkpoint_calls_in_the_backward_pass_is_not_timed():
    begins = [(("a",), 0), (("b",), 20), (("a",), 130)]
    assert summarise([one({"b": 1, "a": 2}, forward=100, begins=begins)]).forward == [80, 20]


def test_forward_times_add_up_to_the_median_pass():
    begins = [(("a",), 0), (("b",), 33.3), (("c",), 77.7)]
    passes = [one({"c": 1, "b": 2, "a": 3}, forward=total, begins=begins) for total in (90.5, 101.3, 140)]
    times = summarise(passes)
    assert sum(times.forward) == times.forward_ns == 101 and min(times.forward) >= 0


def test_modules_that_were_not_seen_leave_forward_times_out():
    assert summarise([one({"a": 2})]).forward is None


@pytest.mark.parametrize(
    "passes, words",
    [
        ([one({})], "no parameter got a gradient"),
        ([one({"a": 0})], "the backward pass took no time"),
        ([one({"a": 5}, forward=0)], "the forward pass took no time"),
    ],
)
def test_an_empty_measurement_is_refused(passes, words):
    with pytest.raises(PassError, match=words):
        summarise(passes)


@pytest.mark.parametrize("name", ["fc", "layer4.1.conv2.weight", "_a"])
def test_plain_names_are_written_as_they_are(name):
    assert scalar(name) == name


@pytest.mark.parametrize("name", ["0.weight", "on", "NULL", "1e3", "a: b", "a,b", "", "-", "a#b", "é", 'q"'])
def test_other_names_are_quoted(name):
    text = scalar(name)
    assert text[0] == text[-1] == '"' and ast.literal_eval(text) == name


class FakeEvent:
    """Time passes by one millisecond with each record."""

    made = 0
    now = 0

    def __init__(self, enable_timing=False):
        assert enable_timing
        FakeEvent.made += 1

    def record(self):
        FakeEvent.now += 1
        self.time = FakeEvent.now

    def elapsed_time(self, end):
        return float(end.time - self.time)


def test_cuda_stamps_are_events_used_again_after_one_synchronisation():
    synchronised = []
    cuda = SimpleNamespace(Event=FakeEvent, synchronize=lambda: synchronised.append(FakeEvent.made))
    clock = CudaClock(SimpleNamespace(cuda=cuda))
    for _ in range(3):
        stamps = [clock.stamp() for _ in range(4)]
        clock.settle()
        assert clock.between(stamps[0], stamps[3]) == 3e6  # nanoseconds
    assert FakeEvent.made == 4 and synchronised == [4, 4, 4]


def test_threads_are_set_before_libraries_are_loaded_and_in_torch(monkeypatch):
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        monkeypatch.setenv(name, "7")
    told = []
    torch = SimpleNamespace(set_num_threads=lambda count: told.append((count, os.environ["OPENBLAS_NUM_THREADS"])))
    monkeypatch.setitem(sys.modules, "torch", torch)
    assert import_torch() is torch and told == [] and os.environ["OMP_NUM_THREADS"] == "7"
    assert import_torch(2) is torch and told == [(2, "2")]
    assert os.environ["OMP_NUM_THREADS"] == os.environ["MKL_NUM_THREADS"] == "2"


def test_the_package_is_written_for_python_3_8():
    for file in sorted((REPORTS / "mergewise_export").glob("*.py")):
        ast.parse(file.read_text(encoding="utf-8"), feature_version=(3, 8))


def test_the_version_is_the_packages():
    assert tomllib.loads((REPORTS / "pyproject.toml").read_text())["project"]["version"] == __version__
