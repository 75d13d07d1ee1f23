# SPDX-License-Identifier: Apache-2.0
"""The page of the papers reproduced, made as a user makes it: `mergewise reproduce`, then the page of its file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from processes import ROOT


class Page(HTMLParser):
    """What a reader sees of a page, and what it is built of."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.visible = ""
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self._hidden = 0
        self.feed(text)
        self.visible = " ".join(self.visible.split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._hidden += tag in ("style", "script")
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("style", "script")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.visible += data + " "


def make_page(reproduction: Path, page: Path) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "mergewise_report.reproduction", reproduction, "-o", page],
        env={**os.environ, "PYTHONPATH": str(ROOT / "reports")}, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def reproduced(program, tmp_path_factory) -> tuple[list[dict], Page]:
    """All papers without their measurements, which no checkout has, and the page of them."""
    folder = tmp_path_factory.mktemp("reproduced")
    done = program.run("reproduce", "all", "--out", folder / "reproduce.json", MERGEWISE_REFERENCE="")
    assert done.returncode == 0, done.stderr
    made = make_page(folder / "reproduce.json", folder / "report.html")
    assert made.returncode == 0, made.stderr
    papers = json.loads((folder / "reproduce.json").read_text())["papers"]
    return papers, Page((folder / "report.html").read_text("utf-8"))


def words(text: str) -> str:
    return " ".join(text.split())


def test_the_page_has_every_paper_with_what_it_claims_and_what_we_get(reproduced):
    papers, page = reproduced
    assert sum(len(paper["claims"]) for paper in papers) > 0
    for paper in papers:
        assert words(paper["title"]) in page.visible
        for claim in paper["claims"]:
            for key in ("what", "claimed", "ours", "difference", "cause"):
                assert words(claim[key]) in page.visible


def test_the_page_has_every_table_and_assumption(reproduced):
    papers, page = reproduced
    assert page.tags.count("table") == sum(len(paper["tables"]) for paper in papers) > 0
    assert page.tags.count("tr") == sum(len(t["rows"]) + 1 for paper in papers for t in paper["tables"])
    for paper in papers:
        for text in [table["title"] for table in paper["tables"]] + paper["assumptions"]:
            assert words(text) in page.visible


def test_the_page_says_what_was_not_run_and_why(reproduced):
    papers, page = reproduced
    missing = [reason for paper in papers for reason in paper["not_run"]]
    assert missing
    for reason in missing:
        assert f"Not run: {words(reason)}." in page.visible


def test_the_page_runs_and_fetches_nothing(reproduced):
    _, page = reproduced
    assert not {"script", "img", "iframe"} & set(page.tags)
    assert [address for address in page.addresses if not address.startswith(("data:", "#"))] == []
