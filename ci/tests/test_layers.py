# SPDX-License-Identifier: Apache-2.0
"""The layer rule: what may include and link what."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import check_layers  # noqa: E402


def problems(root, name, text):
    """What the check says about a tree with this one file."""
    for folder in check_layers.ALLOWED:
        (root / folder).mkdir(parents=True, exist_ok=True)
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return check_layers.check(root)


FORBIDDEN = [
    ("bench/core/x.cpp", '#include "bench/stats/summary.hpp"'),
    ("bench/stats/x.cpp", '#include "bench/config/node.hpp"'),
    ("bench/config/x.cpp", '#include "workloads/model.hpp"'),
    ("bench/cost/x.cpp", '#include "bench/plan/merge_plan.hpp"'),
    ("bench/plan/x.cpp", '#include "bench/strategies/strategy.hpp"'),
    ("bench/device/x.cpp", '#include "bench/collective/rank.hpp"'),
    ("bench/device/host/x.cpp", '#include "bench/plan/merge_plan.hpp"'),
    ("bench/collective/x.cpp", '#include "bench/plan/merge_plan.hpp"'),
    ("kernels/compute/x.cpp", '#include "bench/plan/merge_plan.hpp"'),
    ("bench/replay/x.cpp", '#include "bench/strategies/registry.hpp"'),
    ("bench/replay/x.cpp", '#include "bench/config/node.hpp"'),
    ("bench/result/x.cpp", '#include "bench/replay/replayer.hpp"'),
    ("workloads/x.cpp", '  #  include "bench/app/run.hpp"'),
    ("bench/plan/x.cpp", '#include "time_model.hpp"'),
    ("bench/replay/x.cpp", "#include <gloo/context.h>"),
    ("bench/collective/x.cpp", "#include <gloo/context.h>"),
    ("bench/device/host/x.cpp", "#include <cuda_runtime.h>"),
    ("bench/replay/x.cpp", '#include "nccl.h"'),
    ("bench/device/x.cpp", "#include <cblas.h>"),
    ("bench/app/x.cpp", "#include <hwloc.h>"),
    ("bench/cost/x.cpp", "#include <yaml-cpp/yaml.h>"),
    ("bench/config/x.cpp", "#include <CLI/CLI.hpp>"),
    ("bench/plan/x.cpp", "#include <benchmark/benchmark.h>"),
    ("bench/plan/x.cpp", "#include <gtest/gtest.h>"),
    ("bench/plan/CMakeLists.txt", "mergewise_library(plan SOURCES a.cpp DEPENDS mergewise::cost mergewise::strategies)"),
    ("bench/replay/CMakeLists.txt", "target_link_libraries(mergewise_replay\n  PUBLIC mergewise::plan\n  PRIVATE mergewise::config)"),
    ("bench/cost/CMakeLists.txt", "mergewise_library(cost SOURCES a.cpp PRIVATE yaml-cpp)"),
    ("bench/replay/CMakeLists.txt", "mergewise_library(replay SOURCES a.cpp PRIVATE mergewise_gloo)"),
    ("bench/plan/CMakeLists.txt", "mergewise_library(plan SOURCES a.cpp DEPENDS mergewise::palm)"),
    ("bench/extra/x.cpp", ""),
]

ALLOWED = [
    ("bench/plan/x.cpp", '#include "bench/plan/merge_plan.hpp"'),
    ("bench/strategies/x.cpp", '#include "bench/cost/profile.hpp"'),
    ("bench/result/x.hpp", '#include "bench/replay/measurement.hpp"'),
    ("bench/app/x.cpp", '#include "bench/strategies/registry.hpp"'),
    ("bench/collective/gloo/x.cpp", '#include <gloo/context.h>\n#include "bench/device/device.hpp"'),
    ("bench/micro/x.cpp", "#include <gloo/context.h>\n#include <benchmark/benchmark.h>"),
    ("kernels/compute/x.cpp", '#include <cblas.h>\n#include "workloads/layer_work.hpp"'),
    ("bench/collective/CMakeLists.txt", "mergewise_library(collective SOURCES gloo/a.cpp DEPENDS mergewise::device PRIVATE mergewise_gloo fmt::fmt)"),
    ("bench/plan/CMakeLists.txt", "# target_link_libraries(mergewise_plan PUBLIC mergewise::app)"),
]


@pytest.mark.parametrize("name, text", FORBIDDEN)
def test_forbidden_use_is_found_and_named(tmp_path, name, text):
    found = problems(tmp_path, name, f"\n{text}\n")
    assert len(found) == 1
    assert name.rsplit("/", 1)[0] in found[0]


@pytest.mark.parametrize("name, text", ALLOWED)
def test_allowed_use_passes(tmp_path, name, text):
    assert problems(tmp_path, name, f"{text}\n") == []


def test_a_violation_names_file_and_line(tmp_path):
    found = problems(tmp_path, "bench/core/x.cpp", '#include <string>\n#include "bench/plan/merge_plan.hpp"\n')
    assert found == ["bench/core/x.cpp:2: includes bench/plan/merge_plan.hpp: bench/core may not use bench/plan"]


def test_the_rules_have_no_cycle():
    done = set()

    def visit(folder, path):
        assert folder not in path, f"{' -> '.join([*path, folder])}"
        if folder in done or check_layers.ALLOWED[folder] == "*":
            return
        for used in check_layers.ALLOWED[folder]:
            if used in check_layers.ALLOWED:
                visit(used, [*path, folder])
        done.add(folder)

    for folder in check_layers.ALLOWED:
        visit(folder, [])
