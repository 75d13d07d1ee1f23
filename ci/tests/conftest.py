# SPDX-License-Identifier: Apache-2.0
"""A small repository with the project's own ci/ in it, where every check passes until a test seeds a fault."""

import shutil
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]
SPDX = "SPDX-License-Identifier: Apache-2.0"

HEADER = f"""// {SPDX}
// A thing.
#pragma once

#include <string>

namespace mergewise {{

[[nodiscard]] std::string name_of_thing();

}}  // namespace mergewise
"""

BODY = f"""// {SPDX}
#include "bench/core/thing.hpp"

namespace mergewise {{

std::string name_of_thing() {{ return "thing"; }}

}}  // namespace mergewise
"""

CMAKE = f"""# {SPDX}
cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 20)
include_directories(${{PROJECT_SOURCE_DIR}})
add_library(mergewise_core STATIC bench/core/thing.cpp)
"""

FILES = {
    "CMakeLists.txt": CMAKE,
    "bench/core/README.md": "The leaf.\n",
    "bench/core/thing.hpp": HEADER,
    "bench/core/thing.cpp": BODY,
    "configs/README.md": "Configs.\n",
    "configs/good.yaml": "name: good\nranks: [4]\n",
    "configs/good.json": '{"name": "good"}\n',
    ".gitignore": "/build/\n__pycache__/\n",
}


class Repository:
    """A folder under git with helpers to change and check it."""

    def __init__(self, root):
        self.root = root

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def replace(self, name, old, new):
        text = (self.root / name).read_text()
        assert old in text
        self.write(name, text.replace(old, new))

    def lint(self, *checks):
        return subprocess.run(["ci/lint.sh", *checks], cwd=self.root, capture_output=True, text=True)


@pytest.fixture
def repository(tmp_path):
    root = tmp_path / "repository"
    root.mkdir()
    small = Repository(root)
    for name, text in FILES.items():
        small.write(name, text)
    shutil.copytree(SOURCE / "ci", root / "ci", ignore=shutil.ignore_patterns("tests", "__pycache__"))
    shutil.copytree(SOURCE / ".ci", root / ".ci")
    for name in (".clang-format", ".clang-tidy", "CMakePresets.json"):
        shutil.copy(SOURCE / name, root / name)
    subprocess.run(["git", "init", "--quiet", "."], cwd=root, check=True)
    return small
