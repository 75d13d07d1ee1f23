# SPDX-License-Identifier: Apache-2.0
import copy
import html
import re
from html.parser import HTMLParser

import pytest
import sample_results

from mergewise_report import page
from mergewise_report.units import NBSP


class _Outline(HTMLParser):
    """Elements, ids and visible text; checks that tags are balanced."""

    _VOID = {"meta", "link", "br", "hr", "img"}

    def __init__(self, text):
        super().__init__()
        self.tags, self.ids, self.words, self._open = [], [], [], []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.ids += [v for k, v in attrs if k == "id"]
        if tag not in self._VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self._open and self._open.pop() == tag

    def handle_data(self, data):
        if self._open and self._open[-1] != "style":
            self.words.append(data)

    @property
    def text(self):
        return re.sub(r"\s+", " ", " ".join(self.words)).replace(NBSP, " ")


def words_of(text):
    return _Outline(text).text


def test_the_page_loads_nothing(quickstart_page):
    for attribute in ("src", "href", "srcset", "action", "data"):
        for value in re.findall(rf'\s{attribute}\s*=\s*"([^"]*)"', quickstart_page):
            assert value == "data:," or value.startswith("#"), value
    assert all(v.startswith("#") for v in re.findall(r"url\(\s*[\"']?([^)]*)", quickstart_page))
    assert "http:" not in quickstart_page and "https:" not in quickstart_page
    assert "@import" not in quickstart_page
    assert "default-src 'none'" in quickstart_page


def test_the_page_holds_no_script(quickstart_page):
    tags = _Outline(quickstart_page).tags
    assert not [t for t, _ in tags if t in ("script", "iframe", "object", "embed", "form", "base")]
    assert not [k for _, attributes in tags for k in attributes if k.startswith("on")]


def test_tags_are_balanced_and_ids_unique(quickstart_page, troubled_page):
    for text in (quickstart_page, troubled_page):
        ids = _Outline(text).ids
        assert len(ids) == len(set(ids))


def test_two_results_are_sections_with_ids_of_their_own(page_of, document):
    other = copy.deepcopy(document)
    other["name"] = "second"
    outline = _Outline(page_of(document, other))
    assert len(outline.ids) == len(set(outline.ids))
    assert "2 runs" in outline.text and "quickstart" in outline.text and "second" in outline.text


def test_the_same_result_gives_the_same_bytes(page_of, quickstart_page, document):
    assert page_of(document) == quickstart_page


def test_every_text_of_a_user_is_escaped(page_of, document):
    evil = "</style><script>alert(1)</script><img src=x onerror=alert(1)>\"'&"
    document["name"] = evil
    document["environment"] = {evil: evil}
    document["config"] = {evil: [evil]}
    document["order"] = [evil]
    document["profiles"] = {evil: {"all_reduce": {"model": evil}}}
    document["calibrations"][0].update(profile=evil, collective=evil, variant=evil)
    for case in document["cases"]:
        case["workload"].update(name=evil, times_from=evil)
        case.update(compressor=evil, reason=evil, options={evil: evil}, profile=evil)
        case["flags"].append(evil)
        case["plan"]["hash"] = evil
        case["breakdown"]["labels_ns"][evil] = 0.0
    document["cases"][0].update(strategy=evil, status="failed")
    document["cases"][1].update(strategy=evil)
    text = page_of(document)
    outline = _Outline(text)
    assert "<script" not in text and "<img" not in text
    assert not [k for _, attributes in outline.tags for k in attributes if k.startswith("on")]
    assert text.count("</style>") == 1
    assert html.escape(evil, quote=False)[:20] in text


def test_an_emulated_link_is_declared_and_predictions_called_self_consistency(quickstart_page):
    text = words_of(quickstart_page)
    assert "Emulated link: 8.00 ms a collective, 2.50 Gb/s." in text
    assert "says nothing about a real network" in text
    assert "Self-consistency" in text and "Predicted against measured" not in text


def test_a_real_network_is_not_called_emulated(page_of):
    result = sample_results.make_result(link=None)
    text = words_of(page_of(result)).split("How to read this")[0]
    assert "mulated" not in text and "Predicted against measured" in text


@pytest.mark.parametrize(
    "expected",
    [
        "1 case failed verification.",
        "This run is not complete.",
        "More threads than processors (all cases).",
        "Machine-bound (1 of 5 cases).",
        "Warm-up never settled (1 of 5 cases).",
        "Few samples (1 of 5 cases).",
        "single failed verification and has no timing.",
        "Stopped early: mg_wfbp.",
        "stopped early after 7 samples",
        "rank 2: layer4.2.conv3.weight[17] is 12, expected 24",
        "the budget of 150s was used up",
        "came out negative",
        "The line misses a point by 62 %; predictions use the points.",
    ],
)
def test_everything_doubtful_is_said_in_words(troubled_page, expected):
    assert expected in words_of(troubled_page)


@pytest.mark.parametrize(
    ("flag", "expected"),
    [
        ("link_emulated", "Emulated link"),
        ("oversubscribed", "more threads than processors"),
        ("machine_bound", "machine-bound"),
        ("unstable", "warm-up never settled"),
        ("few_samples", "only 25 samples"),
        ("a_new_flag", "a new flag"),
    ],
)
def test_each_flag_is_in_words(page_of, flag, expected):
    result = sample_results.make_result(link=None)
    result["cases"] = result["cases"][:2]
    result["cases"][0]["flags"] = [flag]
    assert expected in words_of(page_of(result))


def test_a_case_that_failed_verification_shows_no_time_of_its_own(page_of, document):
    failed = document["cases"][0]
    failed.update(status="failed", verified=False, reason="wrong sums")
    failed["summary"].update(median_ns=123.4e6, low_ns=123.3e6, high_ns=123.5e6)
    failed.update(communication_cost_ns=77.7e6, prediction_error=0.432)
    text = words_of(page_of(document))
    assert "wrong sums" in text
    for number in ("123.4", "123.3", "123.5", "77.7", "43 %"):
        assert number not in text


def test_a_result_without_cases_is_a_page(page_of, document):
    document.update(cases=[], calibrations=[], profiles={}, order=[], environment={}, config={})
    assert "No case was measured." in words_of(page_of(document))


def test_cases_without_any_timing_are_a_page(page_of, document):
    for case in document["cases"]:
        case.update(status="skipped", verified=False, summary=None, reason="no time left")
    text = words_of(page_of(document))
    assert "No strategy has a timing here." in text and "no time left" in text


def test_one_rank_without_communication_is_a_page(page_of, document):
    case = document["cases"][1]
    document["cases"] = [case]
    case.update(ranks=1, link=None, flags=[], communication_cost_ns=0)
    case["breakdown"].update(busy_ns=0, hidden_ns=0, exposed_ns=0)
    case["spans"] = [s for s in case["spans"] if s["lane"] == "compute"]
    assert "resnet50, 1 rank " in words_of(page_of(document))


_REQUIRED = {"workload", "strategy", "status"}


def test_null_for_any_key_of_a_case_is_a_page(page_of, document):
    case = document["cases"][2]
    document["cases"] = []
    for key in [k for k in case if k not in _REQUIRED]:
        changed = {**copy.deepcopy(case), "strategy": f"no_{key}", key: None}
        document["cases"].append(changed)
    for key in ("summary", "breakdown", "plan", "link", "workload"):
        changed = {**copy.deepcopy(case), "strategy": f"empty_{key}"}
        changed[key] = {k: (v if k == "name" else None) for k, v in case[key].items()}
        document["cases"].append(changed)
    for index, changed in enumerate(document["cases"]):
        changed["workload"] = {**changed["workload"], "batch": index // 10}  # so that all are drawn
    text = page_of(document)
    _Outline(text)
    assert "None" not in words_of(text) and "nan" not in words_of(text).split()


def test_null_everywhere_at_once_is_a_page(page_of, document):
    for case in document["cases"]:
        for key in case:
            if key not in _REQUIRED:
                case[key] = None
        case["workload"] = {k: (v if k == "name" else None) for k, v in case["workload"].items()}
    document["calibrations"] = [
        dict.fromkeys(c) | {"points": [dict.fromkeys(p) for p in c["points"]]}
        for c in document["calibrations"]
    ]
    for key in (
        "name",
        "started",
        "seed",
        "simulated",
        "complete",
        "environment",
        "config",
        "profiles",
        "order",
    ):
        document[key] = None
    text = words_of(page_of(document))
    assert "None" not in text and "–" in text


def test_a_contradiction_in_the_file_is_said(page_of, document):
    document["cases"][0]["communication_cost_ns"] = 1.0
    assert "The file contradicts itself." in words_of(page_of(document))


def test_tables_have_headers_with_scope(quickstart_page):
    headers = [a for t, a in _Outline(quickstart_page).tags if t == "th"]
    assert headers and all(a.get("scope") in ("col", "row") for a in headers)


def test_large_reports_say_what_they_leave_out(read, document):
    base = document["cases"][1]
    document["cases"] = []
    for index in range(15):
        document["cases"].append({**base, "strategy": f"s{index}"})
    document["cases"].append({**base, "workload": {**base["workload"], "name": "second"}})
    text = words_of(page.build([read(document)], most_sections=1))
    assert "Figures show the 12 fastest strategies; 3 more are in the table." in text
    assert "figures are drawn for the first workloads only" in text
    assert all(f"s{i}" in text for i in range(15))


def test_without_any_timing_the_predicted_iteration_is_shown(page_of, document):
    for case in document["cases"]:
        case.update(status="partial", summary=None, samples_ns=[], spans=[])
    document["cases"][0]["status"] = "failed"
    page = page_of(document)
    assert "One iteration, predicted" in words_of(page)
    (label,) = set(re.findall(r'aria-label="(Timelines[^"]*)"', page))
    assert "optimal measured –, predicted" in label.replace(NBSP, " ") and " wfbp" not in label


def test_a_failed_case_shows_no_spans_of_its_own(page_of, document):
    document["cases"][0]["status"] = "failed"
    labels = re.findall(r'aria-label="(Timelines[^"]*)"', page_of(document))
    assert labels and not any("wfbp measured" in label.replace("mg_wfbp", "") for label in labels)
