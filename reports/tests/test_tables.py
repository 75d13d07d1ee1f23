# SPDX-License-Identifier: Apache-2.0
import pytest

from mergewise_report import metrics, tables, words
from mergewise_report.units import NBSP


def test_nested_values_become_dotted_keys():
    pairs = tables.flatten({"a": {"b": 1, "c": None}, "d": [1, 2], "e": True, "f": [{}], "g": {}})
    assert pairs == [
        ("a.b", "1"),
        ("a.c", "–"),
        ("d", "1, 2"),
        ("e", "yes"),
        ("f", "1\u00a0entry"),
        ("g", "–"),
    ]


def test_sizes_and_clocks_of_the_environment_get_units():
    pairs = tables.flatten(
        {"total_bytes": 25276059648, "page_bytes": 4096, "max_frequency_hz": 3.1e9}
    )
    assert [(k, v.replace(NBSP, " ")) for k, v in pairs] == [
        ("total", "25.3 GB"), ("page", "4 KiB"), ("max_frequency", "3.10 GHz"),
    ]  # fmt: skip


def test_only_utc_times_of_the_schema_are_rewritten():
    assert tables.moment("2026-11-14T09:12:44Z") == "2026-11-14 09:12 UTC"
    assert tables.moment("yesterday") == "yesterday"


def test_the_same_reason_is_given_once(read, document):
    for case in document["cases"][:3]:
        case.update(status="skipped", reason="no time left")
    found = words.reasons(metrics.sections(read(document))[0])
    assert found == [("wfbp, single and ddp", "skipped", "no time left")]


def test_a_shared_place_is_marked(read, document):
    first, second = document["cases"][3], document["cases"][4]
    second["summary"] = dict(first["summary"])
    section = metrics.sections(read(document))[0]
    rows = {r.name: r for r in tables.ranking(section, tables.unit_of(section))}
    assert rows["optimal"].place == rows["mg_wfbp"].place
    assert rows["optimal"].place.startswith("=")


@pytest.mark.parametrize(
    ("used", "expected"),
    [
        ("line", "the fitted line"),
        ("segments", "several lines, one after the other"),
        ("points", "the points, interpolated"),
        ("nothing", "nothing of it"),
    ],
)
def test_what_predictions_use_of_a_calibration_is_said(read, document, used, expected):
    document["calibrations"][0].update(used=used, used_line=used == "line")
    facts, _ = tables.fit_facts(read(document).calibrations[0])
    assert dict(facts)["predictions use"] == expected


def test_a_calibration_without_that_word_goes_by_its_line(read, document):
    document["calibrations"][0].pop("used", None)
    document["calibrations"][0]["used_line"] = False
    facts, _ = tables.fit_facts(read(document).calibrations[0])
    assert dict(facts)["predictions use"] == "the points, interpolated"


def test_a_given_cost_is_told_from_a_measured_one(read, document):
    assert tables.given_costs(read(document)) == []
    document["calibrations"] = []
    found = tables.given_costs(read(document))
    assert [(p, c, t.replace(NBSP, " ")) for p, c, t in found] == [
        ("resnet50/4", "all-reduce", "8.00 ms + 4.80 ns/B")
    ]
