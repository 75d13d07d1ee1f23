# SPDX-License-Identifier: Apache-2.0
"""`mergewise reproduce`: exit codes, JSON, and, where the published measurements are at hand, their reproduction."""

from __future__ import annotations

import json

from needs import reference_or_skip


def rows_of(paper: dict, title: str) -> list[dict]:
    """The rows of the table whose title has this word; of columns of one name the first counts."""
    table = next(t for t in paper["tables"] if title in t["title"])
    names = [column["name"] for column in table["columns"]]
    return [{name: row[names.index(name)] for name in names} for row in table["rows"]]


def test_a_paper_without_its_measurements_says_so_and_exits_2(program):
    done = program.run("reproduce", "ddl_benchmarks", MERGEWISE_REFERENCE="")
    assert done.returncode == 2
    assert "published/ddl_benchmarks_2020.csv" in done.stderr
    assert "--reference" in done.stderr


def test_what_needs_no_measurements_is_shown_all_the_same(program):
    done = program.run("reproduce", "mg_wfbp", "--reference", "/nowhere")
    assert done.returncode == 2
    assert "halving_doubling" in done.stdout
    assert "Not run: GoogLeNet on K80: /nowhere/published" in done.stdout


def test_all_papers_are_tried_and_their_json_is_written(program, tmp_path):
    out = tmp_path / "reproduce.json"
    done = program.run("reproduce", "all", "--out", out, MERGEWISE_REFERENCE="")
    assert done.returncode == 0, done.stderr
    document = json.loads(out.read_text())
    assert document["schema"] == "mergewise/reproduction/1"
    assert [paper["id"] for paper in document["papers"]] == ["mg_wfbp", "ddl_benchmarks", "omgs", "mergecomp"]
    assert [bool(paper["not_run"]) for paper in document["papers"]] == [True, True, False, False]


def test_an_unknown_paper_is_refused_with_the_valid_ones(program):
    done = program.run("reproduce", "omg")
    assert done.returncode == 2
    assert "did you mean 'omgs'?" in done.stderr


def test_published_rows_are_fitted_and_predicted(program):
    folder = reference_or_skip("published/ddl_benchmarks_2020.csv")
    paper = program.json("reproduce", "ddl_benchmarks", "--reference", folder, "--format", "json")["papers"][0]
    assert paper["not_run"] == []
    fits = rows_of(paper, "fitted on")
    rates = rows_of(paper, "MG-WFBP, published and predicted")
    assert len(fits) == len(rates) > 0
    for fit, rate in zip(fits, rates, strict=True):
        if fit["a"] is None:
            assert "no solution" in fit["well posed?"]
            assert rate["fitted plan"] is None
            continue
        assert fit["a"] >= 0 and fit["b"] >= 0
        assert rate["optimal"] >= rate["fitted plan"] * (1 - 1e-9)
        if rate.get("authors' plan") is not None:
            assert rate["optimal"] >= rate["authors' plan"] * (1 - 1e-9)
        # The fit meets both baselines, and the optimum is no slower than either.
        if "no pair" not in fit["well posed?"]:
            assert abs(fit["one group"]) < 1e-3 and abs(fit["layer by layer"]) < 1e-3


def test_googlenet_is_predicted_from_its_trace(program):
    folder = reference_or_skip("published/bcaffe_2018_k80_10gbe.csv", "traces/googlenet_k80.json")
    paper = program.json("reproduce", "mg_wfbp", "--reference", folder, "--format", "json")["papers"][0]
    assert paper["not_run"] == []
    rates = [row for row in rows_of(paper, "K80, one a node, 10 GbE: MG-WFBP") if row["network"] == "GoogLeNet"]
    assert len(rates) > 0
    assert all(row["fitted plan"] is not None for row in rates)
