#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that need the compiler: `check_cpp.py tidy` (clang-tidy on every source, .clang-tidy at the root) and
`check_cpp.py headers` (every header compiles alone).

Both work from build/clang/compile_commands.json, on all processors, and remember in build/lint-cache what passed: a
file is looked at again only when it, a header of ours that it includes, its command or the tool has changed.
"""

import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/clang"
CACHE = ROOT / "build/lint-cache"
FOLDERS = ("bench", "kernels", "workloads", "tests")
QUOTED = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
# What clang-tidy says beside its findings.
NOISE = re.compile(r"^\d+ (warning|error)s? |^Suppressed |^Use -header-filter|^Error while processing|^$")


@lru_cache(maxsize=None)
def own_includes(path):
    """The files of ours that a file includes, itself among them."""
    found, todo = set(), [path]
    while todo:
        file = todo.pop()
        if file in found:
            continue
        found.add(file)
        for name in QUOTED.findall(file.read_text(encoding="utf-8", errors="replace")):
            places = (file.parent / name, ROOT / name, BUILD / "generated" / name)
            todo.extend(place.resolve() for place in places if place.is_file())
    return frozenset(found)


def key_of(path, *more):
    digest = hashlib.sha256()
    for part in more:
        digest.update(part.encode() + b"\0")
    for file in sorted(own_includes(path)):
        digest.update(str(file).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def checked(path, command, stdin="", identity=""):
    """Runs a command about a file unless it passed before. Returns (passed, output)."""
    record = CACHE / key_of(path, identity, shlex.join(command), stdin)
    if record.is_file():
        return True, record.read_text()
    done = subprocess.run(command, cwd=BUILD, input=stdin, capture_output=True, text=True)
    lines = [line for line in (done.stdout + done.stderr).splitlines() if not NOISE.search(line)]
    output = "\n".join(lines).replace(f"{ROOT}/", "")
    if done.returncode == 0:
        record.write_text(output)
    return done.returncode == 0, output


def compile_commands():
    """(file, arguments without the compiler's output and input) of our own sources."""
    found = []
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        file = Path(entry["file"])
        if file.is_relative_to(ROOT) and file.relative_to(ROOT).parts[0] in FOLDERS:
            words = shlex.split(entry["command"])
            words = words[: words.index("-o")]
            found.append((file, words))
    return found


def tool_version(tool):
    return subprocess.run([tool, "--version"], capture_output=True, text=True, check=True).stdout


def tidy_jobs(tool):
    identity = tool_version(tool) + "".join(
        file.read_text() for folder in (".", *FOLDERS) for file in sorted((ROOT / folder).rglob(".clang-tidy"))
        if "build" not in file.parts
    )
    for file, words in compile_commands():
        command = [tool, "--quiet", f"-p={BUILD}", str(file)]
        yield file, command, "", identity + shlex.join(words)


def header_jobs():
    """A header is compiled as the sources of its folder are (or, in a folder without any, as some source is)."""
    commands = compile_commands()
    identity = tool_version(commands[0][1][0])
    for folder in FOLDERS:
        for header in sorted((ROOT / folder).rglob("*.hpp")):
            words = max(commands, key=lambda item: len(os.path.commonpath([item[0].parent, header])))[1]
            name = header.relative_to(ROOT).as_posix()
            yield header, [*words, "-fsyntax-only", "-x", "c++", "-"], f'#include "{name}"\n', identity


def main(arguments):
    if arguments[:1] == ["tidy"] and len(arguments) == 2:
        jobs = list(tidy_jobs(arguments[1]))
    elif arguments == ["headers"]:
        jobs = list(header_jobs())
    else:
        print("usage: check_cpp.py tidy TOOL | headers", file=sys.stderr)
        return 2
    if not jobs:
        print("nothing to check: build/clang/compile_commands.json names no source of ours", file=sys.stderr)
        return 1
    CACHE.mkdir(parents=True, exist_ok=True)
    said, failures = set(), 0
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for passed, output in pool.map(lambda job: checked(*job), jobs):
            failures += not passed
            if output and output not in said:
                said.add(output)
                print(output, flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
