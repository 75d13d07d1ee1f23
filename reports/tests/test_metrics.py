# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

import pytest

from mergewise_report import metrics, words
from mergewise_report.units import NBSP


def set_times(case, median_ns, low_ns, high_ns, count=25):
    case["samples_ns"] = [median_ns] * count
    case["summary"].update(median_ns=median_ns, low_ns=low_ns, high_ns=high_ns, count=count)
    case["communication_cost_ns"] = median_ns - case["compute_alone_ns"]


@pytest.fixture
def ranked(read, document):
    """The section of five cases with given (median, low, high) in ms."""

    def make(*times, count=25):
        document["cases"] = document["cases"][: len(times)]
        for case, values in zip(document["cases"], times):
            set_times(case, *(1e6 * v for v in values), count=count)
        return metrics.sections(read(document))[0]

    return make


def said(section):
    lead, rest = words.headline(section)
    return (lead + " " + rest).replace(NBSP, " ")


def test_the_least_median_comes_first(ranked):
    section = ranked((300, 299, 301), (200, 199, 201), (250, 249, 251))
    assert [r.name for r in section.timed] == ["single", "ddp", "wfbp"]
    assert [r.standing for r in section.timed] == ["fastest", "slower", "slower"]
    assert [r.place for r in section.timed] == [1, 2, 3]
    assert section.timed[1].longer == pytest.approx(0.25)


def test_overlapping_intervals_share_a_place(ranked):
    section = ranked((200, 198, 203), (202, 200, 204), (210, 209, 211), (211, 210, 212))
    assert [r.standing for r in section.timed] == ["fastest", "tied", "slower", "slower"]
    assert [(r.place, r.shared) for r in section.timed] == [
        (1, True),
        (1, True),
        (3, True),
        (3, True),
    ]


def test_a_tie_is_told_as_no_difference(ranked):
    text = said(ranked((200, 198, 203), (202, 200, 204), (260, 259, 261)))
    assert text.startswith("wfbp and single lead: 200 to 202 ms, no difference that can be told.")
    assert "ddp takes 30 % longer." in text
    assert "fastest" not in text


def test_a_clear_winner_is_called_fastest(ranked):
    text = said(ranked((412, 409, 415), (486, 480, 490)))
    assert text.startswith("wfbp is fastest: 412 ms. single takes 18 % longer.")


def test_when_all_overlap_nobody_leads(ranked):
    text = said(ranked((200, 190, 210), (201, 190, 210), (202, 190, 210)))
    assert text.startswith("No difference that can be told: all strategies take 200 to 202 ms.")


def test_fewer_than_five_samples_decide_nothing(ranked):
    section = ranked((200, 200, 200), (300, 300, 300), count=4)
    assert section.timed[1].standing == "unclear"
    text = said(section)
    assert "is fastest" not in text and "from too few samples to call it fastest" in text
    assert "Too few samples to tell how single compares with wfbp." in text


def test_one_case_is_compared_with_nothing(ranked):
    assert "there is nothing to compare it with" in said(ranked((200, 199, 201)))


def test_many_slower_cases_are_told_as_a_range(read, document):
    case = document["cases"][0]
    document["cases"] = []
    for index in range(7):
        other = {**case, "strategy": f"s{index}", "summary": dict(case["summary"])}
        set_times(
            other, 1e6 * (200 + 20 * index), 1e6 * (199 + 20 * index), 1e6 * (201 + 20 * index)
        )
        document["cases"].append(other)
    text = said(metrics.sections(read(document))[0])
    assert "The other 6 take 10 % (s1) to 60 % (s6) longer." in text


@pytest.mark.parametrize("change", [{"status": "failed"}, {"verified": False}, {"summary": None}])
def test_what_is_not_verified_and_measured_has_no_timing(read, document, change):
    document["cases"][4].update(change)  # the fastest
    section = metrics.sections(read(document))[0]
    row = next(r for r in section.rows if r.name == "optimal")
    assert row.place is None and row.standing == "unranked"
    assert section.timed[0].name != "optimal"


def test_sections_are_workload_ranks_and_compressor(read, document):
    document["cases"][1]["ranks"] = 8
    document["cases"][2]["compressor"] = "topk"
    document["cases"][3]["workload"]["batch"] = 32
    titles = [s.title.replace(NBSP, " ") for s in metrics.sections(read(document))]
    assert titles == [
        "resnet50, 4 ranks",
        "resnet50, 8 ranks",
        "resnet50, 4 ranks, topk",
        "resnet50, 4 ranks",
    ]


def test_the_same_strategy_twice_is_told_apart_by_its_options(read, document):
    for case, cap in zip(document["cases"], (26214400, 1048576, 1048576)):
        case.update(strategy="ddp", options={"cap_bytes": cap})
    names = metrics.display_names(read(document).cases[:3])
    assert names == [
        "ddp (cap_bytes 25 MiB)",
        "ddp (cap_bytes 1 MiB) #1",
        "ddp (cap_bytes 1 MiB) #2",
    ]


def test_equal_plans_are_pointed_out(read, document):
    for case in document["cases"][3:]:
        case["plan"]["hash"] = "0123456789abcdef"
    rows = metrics.sections(read(document))[0].timed
    assert [r.same_plan_as for r in rows if r.name == "mg_wfbp"] == ["optimal"]


def test_the_parts_of_a_bar_sum_to_the_median(read, document):
    document["cases"][0]["tax_ns"] = 5e6
    case = read(document).cases[0]
    split = metrics.parts(case)
    assert split.tax_ns == 5e6
    total = split.compute_ns + split.tax_ns + split.exposed_ns
    assert total == pytest.approx(case.summary.median_ns)


def test_without_compute_alone_a_bar_is_not_split(read, document):
    document["cases"][0]["compute_alone_ns"] = None
    split = metrics.parts(read(document).cases[0])
    assert not split.known and split.compute_ns == 0


def test_compute_alone_above_the_median_leaves_no_negative_part(read, document):
    case = read(document).cases[0]
    slow = replace(case, compute_alone_ns=2 * case.summary.median_ns, tax_ns=-3.0)
    split = metrics.parts(slow)
    assert (
        split.exposed_ns == 0 and split.tax_ns == 0 and split.compute_ns == case.summary.median_ns
    )


def test_hidden_is_not_defined_without_communication(read, document):
    document["cases"][0]["breakdown"].update(busy_ns=0, hidden_ns=0)
    assert metrics.hidden_share(read(document).cases[0]) is None


def test_a_sound_case_contradicts_nothing(read, document):
    assert [text for c in read(document).cases for text in metrics.contradictions(c)] == []


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            lambda c: c["summary"].update(median_ns=1.1 * c["summary"]["median_ns"]),
            "median of its samples",
        ),
        (lambda c: c.update(communication_cost_ns=0), "cost of communication"),
        (lambda c: c["breakdown"]["labels_ns"].update(idle=9e9), "labels do not sum"),
        (lambda c: c["plan"].update(groups=[3, 3, 99]), "group ends"),
    ],
)
def test_contradictions_in_the_file_are_found(read, document, change, expected):
    change(document["cases"][1])
    found = metrics.contradictions(read(document).cases[1])
    assert any(expected in text for text in found)


def predicted(document, **times):
    """The section of a simulated result with these predictions in ms."""
    document["simulated"] = True
    document["cases"] = [c for c in document["cases"] if c["strategy"] in times]
    for case in document["cases"]:
        case.update(
            verified=False, summary=None, samples_ns=[], warmup_ns=[], spans=[], breakdown=None,
            predicted_ns=1e6 * times[case["strategy"]],
        )  # fmt: skip
    return document


def test_a_simulated_result_ranks_by_prediction(read, document):
    document = predicted(document, wfbp=300, single=250, ddp=200)
    section = metrics.sections(read(document))[0]
    assert [r.name for r in section.timed] == ["ddp", "single", "wfbp"]
    assert said(section).startswith("ddp is fastest in the model: 200 ms.")


def test_predictions_within_one_per_cent_are_no_different(read, document):
    document = predicted(document, wfbp=202.1, single=201.9, ddp=200)
    section = metrics.sections(read(document))[0]
    assert [r.standing for r in section.timed] == ["fastest", "tied", "slower"]
    assert "ddp and single lead in the model: 200 to 202 ms" in said(section)


def test_the_optimum_of_a_simulation_is_a_bound_and_no_contestant(read, document):
    document = predicted(document, wfbp=300, ddp=200, optimal=190)
    section = metrics.sections(read(document))[0]
    assert [(r.name, r.standing) for r in section.rows] == [
        ("optimal", "bound"), ("ddp", "fastest"), ("wfbp", "slower")]  # fmt: skip
    assert said(section).startswith("ddp is fastest in the model")


def test_the_optimum_alone_is_a_strategy_like_any_other(read, document):
    section = metrics.sections(read(predicted(document, optimal=190)))[0]
    assert [r.name for r in section.timed] == ["optimal"]


def test_clusters_and_bandwidths_are_sections_of_their_own(read, document):
    document = predicted(document, wfbp=300, single=250, ddp=200)
    for case, (cluster, gbps) in zip(document["cases"], (("e", 1), ("e", 10), ("f", 10))):
        case.update(cluster=cluster, gbps=gbps)
    assert len(metrics.sections(read(document))) == 3


@pytest.mark.parametrize(("strategy", "flag", "allowed"), [
    ("single", True, False),
    ("single", False, True),
    ("dear", True, False),
    ("single", None, False),  # a result from before the key
    ("dear", None, True),
])
def test_only_a_plan_outside_the_optimum_may_beat_it(read, document, strategy, flag, allowed):
    case = document["cases"][1]
    case.update(strategy=strategy, gap=-0.05)
    if flag is not None:
        case["within_optimal"] = flag
    found = metrics.contradictions(read(document).cases[1])
    assert any("below the optimum" in text for text in found) is not allowed


@pytest.mark.parametrize(("times", "expected"), [
    ("measured", "layer times measured: my trace"),
    ("modelled", "layer times modelled: my trace"),
    (None, "layer times from: my trace"),  # a result from before the key
])
def test_a_section_says_whether_layer_times_were_measured_or_modelled(read, document, times, expected):
    for case in document["cases"]:
        case["workload"].update(times=times, times_from="my trace")
    assert expected in metrics.sections(read(document))[0].facts
