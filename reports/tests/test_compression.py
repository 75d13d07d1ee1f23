# SPDX-License-Identifier: Apache-2.0
import copy
import dataclasses
import re

import pytest
import sample_results

from mergewise_report import compression
from mergewise_report.figures import compressing
from mergewise_report.units import NBSP


@pytest.fixture
def result(read):
    return read(sample_results.compressed())


@pytest.fixture
def field(result):
    (one,) = compression.fields(result)
    return one


def _compression(field, compressor, strategy):
    return next(c for c in field.cases[compressor] if c.strategy == strategy).compression


def test_a_field_has_every_compressor_of_a_setting_dense_first(result, field):
    assert field.title == f"resnet50, 4{NBSP}ranks"
    assert list(field.cases) == ["none", "fp16", "topk density=0.01", "signsgd"]
    reversed_cases = dataclasses.replace(result, cases=result.cases[::-1])
    (again,) = compression.fields(reversed_cases)
    assert next(iter(again.cases)) == "none"


def test_one_compressor_alone_is_no_field(read, document):
    assert compression.fields(read(document)) == []


def test_a_simulation_has_no_field(result):
    assert compression.fields(dataclasses.replace(result, simulated=True)) == []


def test_break_even_is_where_bytes_saved_take_as_long_as_compressing(field):
    found = _compression(field, "fp16", "single")
    gbps = compression.break_even(found)
    saved_ns = 8 * (found.dense_sent_bytes - found.planned_sent_bytes) / gbps
    assert saved_ns == pytest.approx(found.planned_compress_ns + found.planned_decompress_ns)


def test_break_even_counts_gathered_copies(field):
    """A topk message at 64 ranks: 63 of them pass by, against about two dense gradients."""
    found = _compression(field, "topk density=0.01", "single")
    many = dataclasses.replace(
        found, dense_sent_bytes=2 * 63 / 64 * found.dense_bytes, planned_sent_bytes=63 * found.planned_bytes
    )
    assert compression.break_even(many) < compression.break_even(found)
    more = dataclasses.replace(many, planned_sent_bytes=101 * found.planned_bytes)
    assert compression.break_even(more) is None, "no bytes are saved"


def test_gathering_breaks_even_at_two_dense_messages_by_one_compressed(field):
    found = _compression(field, "topk density=0.01", "single")
    assert compression.most_ranks(found, gathered=True) == pytest.approx(100, rel=1e-3)
    assert compression.most_ranks(found, gathered=False) is None


def test_what_takes_no_time_pays_on_any_network(field):
    free = dataclasses.replace(
        _compression(field, "fp16", "single"), planned_compress_ns=0, planned_decompress_ns=0
    )
    assert compression.break_even(free) == float("inf")


def test_layer_by_layer_stands_against_the_fastest_merging(field):
    cases = field.cases["fp16"]
    merged = compression.merged_best(cases)
    assert merged.strategy != "wfbp"
    expected = compression.alone(cases).summary.median_ns / merged.summary.median_ns - 1
    assert compression.merging_gain(cases) == expected
    assert compression.merging_gain([merged]) is None


def test_the_lead_names_the_fastest_and_what_dense_gradients_take(field):
    lead, rest = compression.lead(field)
    assert lead.startswith("Fastest: topk density=0.01, ")
    assert f"the best with dense gradients takes 150{NBSP}% longer" in lead
    assert "Layer by layer, " in rest


def test_failed_cases_have_no_bars(read):
    document = sample_results.compressed()
    for case in document["cases"]:
        if case["compressor"] == "signsgd":
            case.update(status="failed", verified=False, reason="wrong")
    (one,) = compression.fields(read(document))
    assert [cluster.compressor for cluster in one.clusters] == ["none", "fp16", "topk density=0.01"]
    assert {row.compressor for row in compression.cost_rows(one)} == {"fp16", "topk density=0.01"}


def test_the_figure_says_every_bar(field):
    assert len(compressing.drawable(field)) == 4
    said = compressing.describe(field)
    for name in field.cases:
        assert f"{name}: wfbp " in said
    assert compressing.legend(field)[0] == ("s0", "wfbp (layer by layer)")


def test_the_page_has_figure_costs_and_bytes(page_of):
    page = page_of(sample_results.compressed())
    for heading in ("Layer by layer against merged", "where it pays", "Bytes on the wire"):
        assert heading in page
    assert page.count("Compression: resnet50") == 2  # the section, and a line at the top
    rows = re.findall(r"<th>topk density=0.01</th>", page)
    assert len(rows) == 4  # layer-wise and merged, of two tables


def test_votes_have_no_error(field):
    rows = [row for row in compression.cost_rows(field) if row.compressor == "signsgd"]
    assert {row.error for row in rows} == {"\u2013"}


def test_odd_elements_are_told(read):
    document = sample_results.compressed()
    case = next(c for c in document["cases"] if c["compressor"] == "fp16" and c["strategy"] == "wfbp")
    case["compression"].update(nans=3, infinities=1)
    (one,) = compression.fields(read(document))
    assert compression.wire_rows(one)[0].odd == "3 NaN and 1 infinite"


def test_names_are_escaped(page_of):
    document = copy.deepcopy(sample_results.compressed())
    for case in document["cases"]:
        if case["compressor"] == "fp16":
            case["compressor"] = "<b>evil"
    assert "<b>evil" not in page_of(document)
