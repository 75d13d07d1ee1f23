#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the layer rule: which folder may include and link which, and where vendors' headers may appear.

Usage: check_layers.py [ROOT]. Prints one line per violation and exits 1 if there is any.
"""

import re
import sys
from pathlib import Path

# Folder -> the folders (or single headers of plain data) it may use, beside itself. Not transitive: what is not named
# is not allowed.
ALLOWED = {
    "bench/core": [],
    "bench/stats": ["bench/core"],
    "bench/config": ["bench/core"],
    "workloads": ["bench/core", "bench/config"],
    "bench/cost": ["bench/core", "bench/config"],
    "bench/plan": ["bench/core", "bench/config", "bench/cost"],
    "bench/strategies": ["bench/core", "bench/config", "bench/cost", "bench/plan"],
    "bench/device": ["bench/core"],
    "bench/collective": ["bench/core", "bench/device", "kernels/primitives/half.hpp"],
    "kernels": ["bench/core", "bench/device", "workloads"],
    "bench/replay": [
        "bench/core", "bench/stats", "bench/cost", "bench/plan", "bench/device", "bench/collective", "kernels",
    ],
    "bench/result": ["bench/core", "bench/stats", "bench/cost", "bench/plan", "bench/replay/measurement.hpp"],
    "bench/app": "*",
    "bench/micro": "*",
}

# What a vendor's header looks like in an #include, what its library is called in CMake, and the only folders
# (with all below them) that may use it.
VENDORS = {
    "CUDA": (r"(cuda|cublas|cupti|nvtx|nvml)\w*(/|\.h)", r"CUDA::", ["bench/device/cuda", "kernels/cuda"]),
    "NCCL": (r"nccl\w*\.h", r"nccl", ["bench/collective/nccl"]),
    "Gloo": (r"gloo/", r"mergewise_gloo$|gloo$", ["bench/collective/gloo", "bench/micro"]),
    "OpenBLAS": (r"(openblas/)?cblas|openblas", r"BLAS::|openblas", ["kernels/compute"]),
    "hwloc": (r"hwloc(/|\.h)", r"PkgConfig::HWLOC|hwloc", ["bench/result"]),
    "yaml-cpp": (r"yaml-cpp/", r"yaml-cpp", ["bench/config"]),
    "CLI11": (r"CLI/", r"CLI11", ["bench/app"]),
    "Google Benchmark": (r"benchmark/benchmark\.h", r"benchmark::", ["bench/micro"]),
    "GoogleTest": (r"(gtest|gmock)/", r"GTest::", []),
}

# A folder's own CMakeLists.txt is where its library is declared, so it may link for the sub-folders below it.
SOURCES = {".hpp", ".cpp", ".h", ".cu", ".cuh", ".in"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
LINKING = re.compile(r"\b(mergewise_library|target_link_libraries)\s*\(([^()]*)\)")


def folder_of(path):
    """The layer that a path relative to the root lies in, or None."""
    text = Path(path).as_posix()
    return next((folder for folder in ALLOWED if text.startswith(folder + "/")), None)


def library_folder(name):
    """The folder whose library mergewise::NAME is; a folder's parts are called NAME_PART."""
    for folder in ALLOWED:
        layer = folder.split("/")[-1]
        if name == layer or name.startswith(layer + "_"):
            return folder
    return None


def may_use(user, used):
    return used == user or ALLOWED[user] == "*" or used in ALLOWED[user]


def lies_in(path, folders):
    return any(path.startswith(folder + "/") for folder in folders)


def check_include(path, user, quote, name):
    for vendor, (header, _, folders) in VENDORS.items():
        if re.match(header, name):
            if not lies_in(path, folders):
                yield f"includes {name}: {vendor}'s headers belong into {' or '.join(folders) or 'tests/'} only"
            return
    if quote == "<":
        return
    used = folder_of(name)
    if used is None:
        yield f'includes "{name}": write the path from the root of the repository (bench/..., kernels/..., workloads/...)'
    elif not may_use(user, used) and name not in ALLOWED[user]:
        yield f"includes {name}: {user} may not use {used}"


def check_link(path, user, library):
    for vendor, (_, target, folders) in VENDORS.items():
        if re.match(target, library):
            below = [folder for folder in folders if (folder + "/").startswith(user + "/")]
            if not below:
                yield f"links {library}: {vendor} belongs into {' or '.join(folders) or 'tests/'} only"
            return
    match = re.fullmatch(r"mergewise(?:::|_)(\w+)", library)
    if not match or match[1] == "options":
        return
    used = library_folder(match[1])
    if used is None:
        yield f"links {library}: no folder has a library of this name"
    elif not may_use(user, used):
        yield f"links {library}: {user} may not use {used}"


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def check_file(root, file):
    path = file.relative_to(root).as_posix()
    user = folder_of(path)
    text = file.read_text(encoding="utf-8", errors="replace")
    if file.name == "CMakeLists.txt":
        bare = re.sub(r"#[^\n]*", lambda comment: " " * len(comment[0]), text)
        for call in LINKING.finditer(bare):
            for word in re.finditer(r"[^\s\"]+", call[2]):
                for problem in check_link(path, user, word[0]):
                    yield f"{path}:{line_of(text, call.start(2) + word.start())}: {problem}"
    elif file.suffix in SOURCES:
        for number, line in enumerate(text.splitlines(), 1):
            if include := INCLUDE.match(line):
                for problem in check_include(path, user, *include.groups()):
                    yield f"{path}:{number}: {problem}"


def check(root):
    """All violations below a root, as text lines."""
    problems = []
    for folder in ALLOWED:
        for file in sorted((root / folder).rglob("*")):
            if file.is_file():
                problems.extend(check_file(root, file))
    for folder in sorted(path for path in (root / "bench").iterdir() if path.is_dir()):
        if folder.relative_to(root).as_posix() not in ALLOWED:
            problems.append(f"bench/{folder.name}: has no layer; name it in ALLOWED in ci/check_layers.py")
    return problems


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    problems = check(root)
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
