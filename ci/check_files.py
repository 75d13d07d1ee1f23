#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that need nothing but the files' text: `check_files.py CHECK...`, each one of CHECKS below.

Looks at the files that git knows or would add. Prints one line per finding; exits 1 if there is any, except for the
soft limits, which are only printed.
"""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

CODE = {".hpp", ".cpp", ".h", ".cu", ".cuh", ".py", ".sh", ".cmake"}
SPDX = "SPDX-License-Identifier: Apache-2.0"
# The folders that must say what they are; those below them may.
WITH_README = re.compile(r"bench/\w+|kernels|workloads|configs|reports|ci|cmake|docs|tests")
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60
# Absolute paths that exist on one machine only. Written so that this line does not match itself.
MACHINE_PATH = re.compile(r"/home/[a-z]|/Users/[A-Za-z]|/root/[a-z.]|/tmp/[a-z]")


def listed_files():
    """All files that git tracks or would add, that exist and are text."""
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout.split("\0")
    return sorted({ROOT / name for name in names if name and (ROOT / name).is_file()})


def text_of(path):
    data = path.read_bytes()
    return None if b"\0" in data else data.decode("utf-8", errors="replace")


def is_golden(path):
    return path.relative_to(ROOT).as_posix().startswith("tests/golden/")


def check_whitespace(files):
    for path in files:
        text = text_of(path)
        if text is None or path.suffix == ".svg" or is_golden(path):
            continue
        for number, line in enumerate(text.split("\n"), 1):
            if line != line.rstrip():
                yield path, number, "white space at the end of the line"
            if "\t" in line and path.suffix in CODE | {".yaml", ".yml", ".json"}:
                yield path, number, "a tab; indent with blanks"
        if text and not text.endswith("\n"):
            yield path, text.count("\n") + 1, "no line feed at the end of the file"
        elif text.endswith("\n\n"):
            yield path, text.count("\n"), "empty lines at the end of the file"


def check_spdx(files):
    for path in files:
        if path.suffix not in CODE and path.name not in ("CMakeLists.txt", "run"):
            continue
        lines = (text_of(path) or "").split("\n")
        first = lines[1] if lines[0].startswith("#!") and len(lines) > 1 else lines[0]
        if SPDX not in first:
            yield path, 1, f"the first line must be '{SPDX}' in a comment"


def check_paths(files):
    for path in files:
        text = text_of(path)
        if text is None or path.suffix == ".svg":
            continue
        for number, line in enumerate(text.split("\n"), 1):
            if match := MACHINE_PATH.search(line):
                if path != Path(__file__).resolve():
                    yield path, number, f"'{match[0]}' is a path of one machine"


def unique_pairs(pairs):
    keys = [key for key, _ in pairs]
    for key in keys:
        if keys.count(key) > 1:
            raise ValueError(f"the key '{key}' is given twice")
    return dict(pairs)


def yaml_loader():
    """PyYAML's safe loader, but refusing keys given twice."""
    import yaml

    class Loader(yaml.SafeLoader):
        pass

    def mapping(loader, node):
        loader.flatten_mapping(node)
        return unique_pairs([(loader.construct_object(k, deep=True), loader.construct_object(v, deep=True))
                             for k, v in node.value])

    Loader.add_constructor("tag:yaml.org,2002:map", mapping)
    return lambda text: yaml.load(text, Loader)


def check_configs(files):
    read_yaml = yaml_loader()
    for path in files:
        try:
            if path.suffix == ".json":
                json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=unique_pairs)
            elif path.suffix in (".yaml", ".yml"):
                read_yaml(path.read_text(encoding="utf-8"))
        except Exception as error:  # whatever a parser throws is what is wrong with the file
            line = getattr(getattr(error, "problem_mark", None), "line", getattr(error, "lineno", 1) - 1) + 1
            yield path, line, " ".join(str(error).split())


def check_readmes(files):
    names = {path.relative_to(ROOT).as_posix() for path in files}
    folders = {parent.as_posix() for name in names for parent in Path(name).parents}
    for folder in sorted(folders):
        if WITH_README.fullmatch(folder) and f"{folder}/README.md" not in names:
            yield ROOT / folder, 1, "the folder has no README.md: say what it is and where to start reading"


def check_size(files):
    """The length of C++ functions is clang-tidy's readability-function-size."""
    for path in files:
        if path.suffix not in CODE:
            continue
        text = text_of(path) or ""
        lines = text.count("\n")
        if lines > MAX_FILE_LINES:
            yield path, 1, f"{lines} lines (soft limit {MAX_FILE_LINES}): does it hold one idea?"
        if path.suffix == ".py":
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    length = node.end_lineno - node.lineno + 1
                    if length > MAX_FUNCTION_LINES:
                        yield path, node.lineno, f"a function of {length} lines (soft limit {MAX_FUNCTION_LINES})"


CHECKS = {
    "whitespace": check_whitespace,
    "spdx": check_spdx,
    "paths": check_paths,
    "configs": check_configs,
    "readmes": check_readmes,
    "size": check_size,
}
SOFT = {"size"}


def main(names):
    unknown = [name for name in names if name not in CHECKS]
    if unknown or not names:
        print(f"usage: check_files.py CHECK...   checks: {' '.join(CHECKS)}", file=sys.stderr)
        return 2
    files = listed_files()
    failed = False
    for name in names:
        for path, line, problem in CHECKS[name](files):
            print(f"{path.relative_to(ROOT).as_posix()}:{line}: {problem}")
            failed = failed or name not in SOFT
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
