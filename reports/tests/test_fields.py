# SPDX-License-Identifier: Apache-2.0
import pytest
import sample_simulation

from mergewise_report import fields, maps, simulation_words
from mergewise_report.units import NBSP

MARKS = {name: (name[0].upper(), i) for i, name in enumerate(("wfbp", "single", "mg_wfbp", "dear"))}


@pytest.fixture
def field_of(read):
    """The only field of a simulation with these times: {(gbps, ranks): {strategy: ms}}."""

    def make(times, compressor="none", more=()):
        cases = []
        for (gbps, ranks), found in times.items():
            for strategy, ms in found.items():
                cases.append(case_of(strategy, gbps, ranks, ms, compressor))
        (found,) = fields.fields(read(document_of([*cases, *more])))
        return found

    return make


_BASE = sample_simulation.make_simulation(ranks=(2,), strategies=("wfbp",))


def case_of(strategy, gbps, ranks, ms, compressor="none", **more):
    return {
        **_BASE["cases"][0], "strategy": strategy, "gbps": gbps, "ranks": ranks,
        "predicted_ns": 1e6 * ms, "optimal_ns": 90e6, "compressor": compressor,
        "cluster": "ethernet", **more,
    }  # fmt: skip


def document_of(cases):
    return {**_BASE, "cases": cases}


def squares(one):
    return {
        (name, column): square
        for name, row in one.rows
        for column, square in zip(one.columns, row)
        if square
    }


def text_of(pair):
    return " ".join(pair).replace(NBSP, " ")


def test_a_cluster_with_several_bandwidths_is_a_field_of_its_own(read):
    cases = [case_of("wfbp", gbps, 4, 100) for gbps in (10, 1)]
    cases += [case_of("wfbp", 100, 4, 100, cluster=name) for name in ("ib", "roce")]
    swept, rest = fields.fields(read(document_of(cases)))
    assert swept.where == "ethernet" and [n.gbps for n in swept.networks] == [1, 10]
    assert rest.where == "" and [n.cluster for n in rest.networks] == ["ib", "roce"]


def test_accelerators_and_workloads_are_never_mixed(read):
    cases = [case_of("wfbp", 1, 4, 100, accelerator=name) for name in ("v100", "a100")]
    assert [f.title for f in fields.fields(read(document_of(cases)))] == [
        "resnet50 on v100", "resnet50 on a100"]  # fmt: skip


def test_a_simulation_by_an_older_program_is_a_field_without_a_network(read):
    cases = [case_of("wfbp", None, ranks, 100) for ranks in (2, 4)]
    for case in cases:
        for key in ("cluster", "accelerator", "gbps"):
            del case[key]
    (one,) = fields.fields(read(document_of(cases)))
    assert one.title == "resnet50" and one.ranks == (2, 4) and one.where == ""


def test_the_optimum_bounds_and_never_leads(field_of):
    one = field_of({(1, 2): {"optimal": 90, "wfbp": 110, "single": 100}})
    (cell,) = (cell for _, _, cell in one.of("none"))
    assert list(cell.times) == ["wfbp", "single"] and cell.optimal_ns == 90e6
    assert fields.verdict(cell.times).leaders == ("single",)
    assert fields.gap_of_best(cell) == pytest.approx(100 / 90 - 1)


@pytest.mark.parametrize(
    ("times", "leaders", "runner_up", "lead"),
    [
        ({"a": 100.0, "b": 110.0, "c": 120.0}, ("a",), "b", 0.10),
        ({"a": 100.9, "b": 100.0, "c": 120.0}, ("a", "b"), "c", 0.20),
        ({"a": 101.1, "b": 100.0}, ("b",), "a", 0.011),
        ({"a": 100.0, "b": 100.0}, ("a", "b"), "", None),
        ({"a": 100.0}, ("a",), "", None),
    ],
)
def test_who_is_within_one_per_cent_of_the_fastest_shares_the_lead(times, leaders, runner_up, lead):
    judged = fields.verdict(times)
    assert judged.leaders == leaders and judged.runner_up == runner_up
    assert judged.lead == (None if lead is None else pytest.approx(lead))


def test_what_merging_gains_is_held_against_the_best_that_merges(field_of):
    one = field_of({
        (1, 2): {"wfbp": 120, "single": 150, "mg_wfbp": 100},
        (10, 2): {"wfbp": 100, "single": 150, "mg_wfbp": 125},
    })  # fmt: skip
    gains = [fields.gain_of_merging(one, cell) for _, _, cell in one.of("none")]
    assert gains == [pytest.approx(0.20), pytest.approx(-0.20)]


def test_a_strategy_that_cuts_tensors_does_not_count_as_merging(field_of):
    one = field_of({(1, 2): {"wfbp": 100, "bytescheduler": 50}})
    assert [fields.gain_of_merging(one, cell) for _, _, cell in one.of("none")] == [None]


def test_without_layer_wise_what_merging_gains_is_not_known(field_of):
    one = field_of({(1, 2): {"single": 100, "mg_wfbp": 50}})
    assert [fields.gain_of_merging(one, cell) for _, _, cell in one.of("none")] == [None]


def test_compressing_is_best_against_best(field_of):
    compressed = [case_of("single", 1, 2, 80, "topk"), case_of("wfbp", 1, 2, 75, "qsgd"),
                  case_of("wfbp", 10, 2, 125, "topk")]
    one = field_of({(1, 2): {"wfbp": 120, "single": 90}, (10, 2): {"wfbp": 100}}, more=compressed)
    slow, fast = one.networks
    assert fields.gain_of_compressing(one, slow, 2) == (pytest.approx(0.2), "qsgd")
    assert fields.gain_of_compressing(one, fast, 2) == (pytest.approx(-0.2), "topk")


def test_standings_count_leads_gains_and_losses(field_of):
    one = field_of({
        (1, 2): {"wfbp": 150, "single": 120, "mg_wfbp": 100},
        (1, 4): {"wfbp": 300, "single": 100, "mg_wfbp": 100},
        (10, 2): {"wfbp": 100, "single": 110, "mg_wfbp": 100.5},
    })  # fmt: skip
    first, second, third = fields.standings(one, "none")
    assert (first.name, first.alone, first.shared, first.losses) == ("mg_wfbp", 1, 2, 0)
    assert first.largest_lead == fields.Extreme(pytest.approx(0.20), f"1{NBSP}Gb/s, 2{NBSP}ranks")
    assert first.largest_gain == fields.Extreme(pytest.approx(2.0), f"1{NBSP}Gb/s, 4{NBSP}ranks")
    assert first.furthest is None
    assert {second.name, third.name} == {"wfbp", "single"}
    single = next(s for s in (second, third) if s.name == "single")
    assert (single.alone, single.shared, single.losses) == (0, 1, 1)
    assert single.largest_loss.value == pytest.approx(0.10)
    assert single.behind == pytest.approx(0.10) and single.furthest.value == pytest.approx(0.20)


def test_the_same_strategy_with_two_options_is_told_apart(read):
    cases = [case_of("ddp", 1, 2, ms, options={"cap_bytes": cap}) for ms, cap in ((9, 2**20), (8, 2**24))]
    (one,) = fields.fields(read(document_of(cases)))
    assert list(one.strategies) == ["ddp (cap_bytes 1 MiB)", "ddp (cap_bytes 16 MiB)"]


def test_letters_are_unique_and_stem_from_the_names():
    names = ["wfbp", "mg_wfbp", "mergecomp", "dear", "ddp", *(f"w{i}" for i in range(40))]
    found = fields.letters(names)
    assert len(set(found.values())) == len(names)
    assert [found[n] for n in names[:5]] == ["W", "M", "E", "D", "P"]


def test_a_map_shows_who_leads_and_by_how_much(field_of):
    one = field_of({
        (1, 2): {"wfbp": 150, "single": 120, "mg_wfbp": 100},
        (1, 4): {"wfbp": 300, "single": 100, "mg_wfbp": 100},
        (10, 2): {"wfbp": 100, "single": 100, "mg_wfbp": 100.5},
    })  # fmt: skip
    found = squares(maps.winners(one, "none", MARKS))
    alone, shared, same = found["1", "2"], found["1", "4"], found["10", "2"]
    assert (alone.text, alone.remark, alone.kind) == ("M", "20", "w2")
    assert (shared.text, shared.kind) == ("SM", "w1 pale")
    assert (same.text, same.kind) == ("=", "same")
    title = f"1{NBSP}Gb/s, 2{NBSP}ranks: mg_wfbp 100{NBSP}ms, next single +20{NBSP}%"
    assert alone.title.startswith(title)
    assert ("10", "4") not in found


def test_where_most_lead_the_map_names_the_others(field_of):
    many = {name: 100 for name in ("wfbp", "single", "mg_wfbp", "ddp", "omgs")}
    one = field_of({(1, 2): {**many, "dear": 150}, (10, 2): many})
    marks = {name: (letter, 0) for name, letter in zip([*many, "dear"], "WSMPOD")}
    assert squares(maps.winners(one, "none", marks))["1", "2"].text == "all but D"


def test_the_fastest_network_is_the_top_row(field_of):
    one = field_of({(gbps, 2): {"wfbp": 1, "single": 2} for gbps in (10, 1, 100)})
    assert [name for name, _ in maps.winners(one, "none", MARKS).rows] == ["100", "10", "1"]


def test_gains_and_losses_have_signs_and_no_difference_has_neither(field_of):
    one = field_of({
        (1, 2): {"wfbp": 150, "mg_wfbp": 100},
        (10, 2): {"wfbp": 100, "mg_wfbp": 125},
        (100, 2): {"wfbp": 100.5, "mg_wfbp": 100},
        (400, 2): {"wfbp": 2000, "mg_wfbp": 100},
    })  # fmt: skip
    found = {name: square for (name, _), square in squares(maps.merging(one, "none")).items()}
    assert [(found[n].text, found[n].kind) for n in ("1", "10", "100", "400")] == [
        ("50", "gain2"), ("−25", "loss1"), ("=", "same"), ("20×", "gain3")]  # fmt: skip
    assert found["10"].title.replace(NBSP, " ").endswith("merging loses 25 %")


def test_a_winner_below_the_optimum_is_marked(field_of):
    one = field_of({(1, 2): {"dear": 80}, (10, 2): {"dear": 90.1}, (100, 2): {"dear": 120}})
    found = {name: s for (name, _), s in squares(maps.gaps(one, "none")).items()}
    assert [(found[n].text, found[n].kind) for n in ("1", "10", "100")] == [
        ("−11", "below"), ("=", "same"), ("33", "far2")]  # fmt: skip


def test_the_outcome_says_where_merging_gains_and_where_it_loses(field_of):
    text = text_of(simulation_words.outcome(field_of({
        (1, 2): {"wfbp": 150, "mg_wfbp": 100},
        (10, 2): {"wfbp": 100, "mg_wfbp": 125},
        (100, 2): {"wfbp": 100.5, "mg_wfbp": 100},
    })))  # fmt: skip
    assert text.startswith("mg_wfbp and wfbp lead in 2 of 3 cases, alone or together with others.")
    assert "takes up to 50 % longer than merging (1 Gb/s, 2 ranks); in 1 case it makes no" in text
    assert "in 1 case every merging strategy loses, by up to 25 % (10 Gb/s, 2 ranks)" in text


def test_the_outcome_says_by_what_a_strategy_beats_the_optimum(field_of):
    text = text_of(simulation_words.outcome(field_of({(1, 2): {"dear": 72, "wfbp": 150}})))
    assert "up to 20 % below it (2 ranks), where it reaches into the next forward pass" in text


def test_nothing_that_leads_by_one_per_cent_is_said(field_of):
    text = text_of(simulation_words.outcome(field_of({(1, 2): {"wfbp": 100, "single": 100.5}})))
    assert "Nowhere does one strategy lead by 1 %." in text
    assert "Merging gains nothing over sending layer by layer" in text


def test_a_map_of_a_strategy_shows_how_far_it_is_behind(field_of):
    one = field_of({
        (1, 2): {"wfbp": 125, "mg_wfbp": 100}, (10, 2): {"wfbp": 100.9, "mg_wfbp": 100},
        (100, 2): {"mg_wfbp": 100},
    })  # fmt: skip
    found = squares(maps.behind(one, "none", "wfbp"))
    assert {name: (s.text, s.kind) for (name, _), s in found.items()} == {
        "1": ("25", "far1"), "10": ("=", "same")}  # fmt: skip
