# SPDX-License-Identifier: Apache-2.0
import copy
import re

import pytest
import sample_results
import sample_simulation
from test_page import _Outline, words_of

from mergewise_report import cli, page
from mergewise_report.prediction_error import errors_of


@pytest.fixture(scope="module")
def small():
    return sample_simulation.small()


@pytest.fixture(scope="module")
def small_page(page_of, small):
    return page_of(small)


def test_the_title_says_that_no_ranks_ran_and_where_the_times_come_from(small_page):
    head = words_of(small_page).split("How to read this")[0]
    title = re.search(r"<h1>.*?</h1>", small_page)[0]
    assert "simulated: model time, no ranks ran" in title
    assert "No ranks ran; every time here is the model's" in head
    assert "accelerator v100" in head and "clusters ethernet_10g and infiniband_100g" in head
    assert "layer times roofline v100" in head and "collectives cost what docs/simulation.md says" in head


def test_a_measured_result_is_not_called_simulated(quickstart_page):
    assert "imulated" not in words_of(quickstart_page).split("How to read this")[0]


def test_a_page_of_a_simulation_is_balanced_and_loads_nothing(small_page, swept_page):
    for text in (small_page, swept_page):
        ids = _Outline(text).ids
        assert len(ids) == len(set(ids))
        assert "<script" not in text and "http:" not in text and "https:" not in text
        assert "nan" not in words_of(text).split() and "None" not in words_of(text)


def test_the_same_simulation_gives_the_same_bytes(page_of, small_page, small):
    assert page_of(small) == small_page


def test_few_settings_have_a_ranking_each(small_page):
    text = words_of(small_page)
    assert "resnet50 on v100, ethernet_10g, 16 ranks" in text
    assert "not verified, so no timing" not in text
    (ranking, *_) = re.findall(r'<table class="ranking.*?</table>', small_page, re.S)
    assert "median" not in ranking and "hidden" not in ranking and "predicted" in ranking


def test_many_settings_have_maps_instead_of_rankings(swept_page):
    text = words_of(swept_page)
    assert "A ranking of each of the" not in text  # 24 of them still fit


def test_more_settings_are_left_out_and_that_is_said(page_of):
    text = words_of(page_of(sample_simulation.break_even(("resnet50",), 5, 5)))
    assert "A ranking of each of the 25 settings would be too long" in text
    assert "Curves are drawn for 3 of 5 networks" in text


def test_maps_say_who_wins_what_merging_and_compressing_gain_and_what_is_left(swept_page):
    text = words_of(swept_page)
    for heading in ("Who wins where, dense", "Who wins where, topk", "What merging gains, dense",
                    "What is left to gain, dense", "What compressing gains",
                    "Every strategy over all networks and ranks, topk"):  # fmt: skip
        assert heading in text
    maps = [a for t, a in _Outline(swept_page).tags if t == "table" and "map" in a.get("class", "")]
    assert len(maps) == 7 + 2 * 9  # and one of each strategy and compressor
    assert "How far each strategy is behind the best, topk" in text


def test_every_square_of_a_map_is_said_in_words(swept_page):
    for squares in re.findall(r'<table class="map.*?</table>', swept_page, re.S):
        assert squares.count("<td") == 12
        assert squares.count('title="') == 12


def test_the_optimum_is_no_contestant_of_a_map(swept_page):
    legend = re.search(r'<ul class="legend">(.*?)</ul>', swept_page, re.S)[1]
    assert "wfbp" in legend and "optimal" not in legend


def test_without_measured_results_no_band_is_drawn_and_that_is_said(small_page):
    assert "opacity" not in small_page
    assert "is not known: give measured results with --measured" in words_of(small_page)


def test_errors_of_measured_results_become_bands(read, small):
    measured = read(sample_results.make_result(link=None, bias=0.05))
    text = page.build([read(small)], errors=errors_of([measured]))
    assert "opacity" in text
    assert "Shaded bands: wfbp, dear. The prediction errors of 5 measured cases" in words_of(text)
    assert "Errors of prediction carried over" in words_of(text)


def test_what_a_strategy_below_the_optimum_does_is_said(small_page):
    text = words_of(small_page)
    assert "reaches into the next forward pass, 8.2 % below the optimum of plans that do not" in text
    assert "contradicts itself" not in text
    assert "emulates a rule that decides at run time" in text


def test_a_measured_strategy_below_the_optimum_says_by_what(page_of, document):
    case = document["cases"][2]
    case.update(strategy="dear", gap=-0.123)
    text = words_of(page_of(document))
    assert "reaches into the next forward pass, 12 % below the optimum of plans that do not" in text


def test_the_plans_that_a_search_tried_are_listed(small_page):
    text = words_of(small_page)
    assert "tried 3 plans" in text and "Plans that mergecomp tried: 3" in text
    assert "1 2 groups 49, 99" in text and "+2.0 %" in text


def test_probes_may_call_their_ends_groups(page_of, document):
    document["cases"][0]["probes"] = [{"groups": [3, 9], "iteration_ns": 2e8}, {"ends": [9]}]
    text = words_of(page_of(document))
    assert "Plans that wfbp tried: 2" in text and "2 groups 3, 9" in text


def test_cases_that_could_not_be_simulated_are_counted_with_the_reason(page_of, small):
    document = copy.deepcopy(small)
    for case in document["cases"]:
        if case["strategy"] == "dear":
            case.update(status="skipped", predicted_ns=None, reason="no cost of reduce_scatter")
    text = words_of(page_of(document))
    assert "Not simulated 6 cases of dear: no cost of reduce_scatter" in text


def test_texts_of_a_user_are_escaped_in_maps_and_curves(page_of, small):
    evil = "</style><script>alert(1)</script>\"'&"
    document = copy.deepcopy(small)
    for case in document["cases"]:
        case.update(accelerator=evil, compressor=evil)
        case["cluster"] += evil
        case["workload"].update(name=evil, times_from=evil)
    document["cases"][0]["strategy"] = evil
    assert "<script" not in page_of(document)


def test_null_for_any_key_of_a_simulated_case_is_a_page(page_of, small):
    document = copy.deepcopy(small)
    keys = [k for k in document["cases"][0] if k not in ("workload", "strategy", "status")]
    for key, case in zip(keys, document["cases"]):
        case[key] = None
    text = words_of(page_of(document))
    assert "None" not in text and "nan" not in text.split()


def test_a_simulation_without_cases_is_a_page(page_of, small):
    assert "No case was measured." in words_of(page_of({**small, "cases": []}))


def test_measured_results_are_an_option_of_the_command(tmp_path, small, document, capsys):
    import json

    for name, value in (("s", small), ("m", document)):
        (tmp_path / f"{name}.json").write_text(json.dumps(value))
    simulated, measured = str(tmp_path / "s.json"), str(tmp_path / "m.json")
    out = tmp_path / "page.html"
    assert cli.main(["html", simulated, "--measured", measured, "-o", str(out)]) == 0
    assert "Shaded bands" in out.read_text()
    assert cli.main(["html", measured, "--measured", measured, "-o", str(out)]) == 2
    assert "none of these is simulated" in capsys.readouterr().err
    assert cli.main(["html", simulated, "--measured", simulated, "-o", str(out)]) == 2
    assert "is simulated; --measured takes measured" in capsys.readouterr().err
