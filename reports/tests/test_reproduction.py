# SPDX-License-Identifier: Apache-2.0
import copy
import json
from html.parser import HTMLParser

import pytest

from mergewise_report import reproduction
from mergewise_report.document import ResultError

SAMPLE = {
    "schema": "mergewise/reproduction/1",
    "version": "0.1.0",
    "papers": [
        {
            "id": "sample",
            "title": "A paper <of 2020>",
            "source": "somebody",
            "assumptions": ["the moon is round"],
            "claims": [
                {"what": "speed", "claimed": "up to 3 times", "ours": "2 times", "difference": "-33 %", "cause": "tax"}
            ],
            "tables": [
                {
                    "title": "Times",
                    "columns": [
                        {"name": "network", "unit": "", "digits": 0},
                        {"name": "error", "unit": "%", "digits": 1},
                    ],
                    "rows": [["vgg16", -1.26], ["resnet50", None], ["none", -0.01]],
                    "notes": ["made up"],
                    "detail": False,
                },
                {"title": "All times", "columns": [], "rows": [], "notes": [], "detail": True},
            ],
            "not_run": ["measurements: no reference"],
        }
    ],
}


def page_of(tmp_path, document):
    file = tmp_path / "reproduce.json"
    file.write_text(json.dumps(document))
    return reproduction.build(reproduction.load(file))


class Balance(HTMLParser):
    VOID = {"meta", "link"}

    def __init__(self, text):
        super().__init__()
        self.open = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_page_shows_claim_ours_difference_and_cause(tmp_path):
    text = page_of(tmp_path, SAMPLE)
    for said in ("up to 3 times", "2 times", "-33 %", "tax", "the moon is round", "made up", "A paper &lt;of 2020&gt;"):
        assert said in text
    assert Balance(text).open == []


def test_numbers_have_their_columns_digits_and_missing_ones_a_dash(tmp_path):
    text = page_of(tmp_path, SAMPLE)
    assert '<td class="n">−1.3</td>' in text
    assert '<td class="n">–</td>' in text
    assert '<td class="n">0.0</td>' in text, "no minus before a zero"


def test_long_tables_are_folded_and_what_did_not_run_stands_out(tmp_path):
    text = page_of(tmp_path, SAMPLE)
    assert "<summary>All times</summary>" in text
    assert "Not run: measurements: no reference." in text


def test_same_papers_give_the_same_bytes(tmp_path):
    assert page_of(tmp_path, SAMPLE) == page_of(tmp_path, SAMPLE)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d.update(schema="mergewise/result/1"), "schema is 'mergewise/result/1'"),
        (lambda d: d["papers"][0].pop("claims"), "papers[0].claims"),
        (lambda d: d["papers"][0]["tables"][0]["rows"][0].pop(), "has 1 cells for 2 columns"),
        (lambda d: d["papers"][0]["tables"][0]["columns"][1].update(digits=99), "0 to 12"),
        (lambda d: d["papers"][0]["tables"][0]["rows"][0].__setitem__(1, [1]), "must be a number"),
    ],
)
def test_every_broken_file_is_refused_at_its_place(tmp_path, change, said):
    document = copy.deepcopy(SAMPLE)
    change(document)
    with pytest.raises(ResultError) as error:
        page_of(tmp_path, document)
    assert said in str(error.value)


def test_command_writes_the_page_or_says_what_is_wrong(tmp_path, capsys):
    file = tmp_path / "reproduce.json"
    file.write_text(json.dumps(SAMPLE))
    page = tmp_path / "report.html"
    assert reproduction.main([str(file), "-o", str(page)]) == 0
    assert page.read_text("utf-8").startswith("<!DOCTYPE html>")
    assert reproduction.main([str(tmp_path / "missing.json"), "-o", str(page)]) == 2
    assert "missing.json: cannot be read" in capsys.readouterr().err
