# SPDX-License-Identifier: Apache-2.0
"""Every check of ci/lint.sh passes on a clean tree and fails, naming the file, on one seeded fault."""

import pytest

# Written in two pieces, so that the checks do not find them here.
MISSPELT = "t" + "eh"
MACHINE_PATH = "/ho" + "me/alice/x"
SPDX = "SPDX-License-" + "Identifier: Apache-2.0"

# check -> (file, what it becomes from its present text)
FAULTS = {
    "whitespace": ("bench/core/thing.cpp", lambda text: text.replace("mergewise {\n", "mergewise { \n", 1)),
    "whitespace (tab)": ("configs/good.json", lambda text: "{\n\t\"a\": 1}\n"),
    "whitespace (no line feed)": ("configs/README.md", lambda text: "Configs."),
    "spdx": ("bench/core/thing.hpp", lambda text: text.replace(SPDX, "A licence")),
    "paths": ("configs/good.yaml", lambda text: f"{text}file: {MACHINE_PATH}\n"),
    "configs (JSON)": ("configs/good.json", lambda text: '{"name": }\n'),
    "configs (JSON, key twice)": ("configs/good.json", lambda text: '{"a": 1, "a": 2}\n'),
    "configs (YAML)": ("configs/good.yaml", lambda text: "name: [\n"),
    "configs (YAML, key twice)": ("configs/good.yaml", lambda text: "name: a\nname: b\n"),
    "readmes": ("bench/core/README.md", lambda text: None),
    "layers": ("bench/core/thing.cpp", lambda text: f'#include "bench/plan/plan.hpp"\n{text}'),
    "spelling": ("configs/README.md", lambda text: f"{MISSPELT} configs.\n"),
    "shell": ("ci/bad.sh", lambda text: f"#!/usr/bin/env bash\n# {SPDX}\nrm $1\n"),
    "format": ("bench/core/thing.cpp", lambda text: text.replace("  return", "return").replace("{ return", "{return")),
    "headers": ("bench/core/thing.hpp", lambda text: text.replace("#include <string>\n\n", "")),
    "tidy (name)": ("bench/core/thing.cpp", lambda text: text.replace("{ return", "{\n  int Bad = 1;\n  (void)Bad;\n  return")),
    "tidy (fault)": ("bench/core/thing.cpp",
                     lambda text: text.replace("{ return", '{\n  const std::string s = "a";\n  return s + std::string("b", 900);\n  return')),
    "tidy (header)": ("bench/core/thing.hpp", lambda text: text.replace("name_of_thing();", "name_of_thing();\nusing namespace std;")),
    "tidy (compiler)": ("bench/core/thing.cpp", lambda text: text.replace("return", "return nothing +")),
}


def test_clean_tree_passes(repository):
    done = repository.lint()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "lint: all fine" in done.stdout


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_fails_and_names_the_file(repository, fault):
    name, change = FAULTS[fault]
    path = repository.root / name
    text = change(path.read_text() if path.exists() else "")
    if text is None:
        path.unlink()
    else:
        repository.write(name, text)
    check = fault.split()[0]
    done = repository.lint(check)
    assert done.returncode == 1, done.stdout + done.stderr
    where = name.removesuffix("/README.md") if check == "readmes" else name
    assert f"{where}:" in done.stdout + done.stderr
    assert done.stdout.endswith(f"lint: FAILED: {check}\n")


def test_every_check_has_a_fault(repository):
    listed = repository.lint("--list").stdout.split()
    assert set(listed) - {fault.split()[0] for fault in FAULTS} == {"size"}


def test_size_is_said_but_does_not_fail(repository):
    repository.write("bench/core/long.hpp", f"// {SPDX}\n" + "// line\n" * 400)
    done = repository.lint("size")
    assert done.returncode == 0
    assert "bench/core/long.hpp:1: 401 lines" in done.stdout


def test_tidy_remembers_what_passed_and_looks_again_when_a_header_changes(repository):
    assert repository.lint("tidy").returncode == 0
    records = set((repository.root / "build/lint-cache").iterdir())
    assert repository.lint("tidy").returncode == 0
    assert set((repository.root / "build/lint-cache").iterdir()) == records
    repository.replace("bench/core/thing.hpp", "name_of_thing();", "name_of_thing();\nvoid Bad();")
    assert repository.lint("tidy").returncode == 1
    assert repository.lint("tidy").returncode == 1, "what failed is not remembered"


def test_all_checks_run_before_the_verdict(repository):
    repository.write("configs/good.json", "{")
    repository.write("configs/README.md", "Configs. \n")
    done = repository.lint("whitespace", "configs", "layers")
    assert "lint: layers     ok" in done.stdout
    assert done.stdout.endswith("lint: FAILED: whitespace configs\n")


def test_unknown_check_is_a_usage_error(repository):
    done = repository.lint("nothing")
    assert done.returncode == 2
    assert "whitespace" in done.stderr
