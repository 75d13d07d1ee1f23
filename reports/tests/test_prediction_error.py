# SPDX-License-Identifier: Apache-2.0
import pytest
import sample_results

from mergewise_report import simulation_words
from mergewise_report.document import ResultError
from mergewise_report.prediction_error import band, errors_of
from mergewise_report.units import NBSP


@pytest.fixture
def measured(read):
    """A measured result whose cases have these errors of prediction."""

    def make(errors, flags=(), strategies=("wfbp",), link=None):
        document = sample_results.make_result(link=link)
        base = document["cases"][0]
        document["cases"] = [
            {**base, "strategy": strategies[i % len(strategies)], "prediction_error": e,
             "flags": list(flags[i : i + 1]) if flags else []}
            for i, e in enumerate(errors)
        ]  # fmt: skip
        return read(document)

    return make


def test_a_band_is_the_quantiles_of_many_and_the_ends_of_few():
    few = band([-0.1, 0.0, 0.3])
    assert (few.low, few.high, few.count) == (-0.1, 0.3, 3)
    many = band([i / 100 for i in range(11)])
    assert (many.low, many.high) == (pytest.approx(0.01), pytest.approx(0.09))


def test_a_prediction_may_stand_for_predicted_over_one_plus_the_error():
    assert band([-0.5, 0.25]).around(100.0) == (pytest.approx(80.0), pytest.approx(200.0))


def test_a_strategy_with_cases_enough_has_a_band_of_its_own(measured):
    errors = errors_of([measured([0.1, -0.1] * 5, strategies=("wfbp", "single"))])
    assert errors.of("wfbp").low == pytest.approx(0.1) and errors.of("wfbp").strategy == "wfbp"
    assert errors.of("single").high == pytest.approx(-0.1)
    assert errors.of("dear") == errors.over_all and errors.of("dear").count == 10


def test_machine_bound_cases_are_left_out_and_counted(measured):
    result = measured([0.01, 0.9, 0.02], flags=["", "machine_bound", ""])
    errors = errors_of([result])
    assert errors.machine_bound == 1 and errors.over_all.high == pytest.approx(0.02)
    assert f"1{NBSP}machine-bound case left out" in simulation_words.band(errors)


def test_an_emulated_link_is_called_what_it_is(measured):
    errors = errors_of([measured([0.01, 0.02], link=sample_results.LINK)])
    assert "All ran over an emulated link" in simulation_words.band(errors)
    assert "emulated" not in simulation_words.band(errors_of([measured([0.01])]))


def test_where_nothing_was_measured_the_caption_says_that_the_error_is_unknown():
    assert "is not known" in simulation_words.band(None)


def test_only_verified_cases_with_a_median_count(measured, read):
    document = sample_results.make_result(link=None)
    for case in document["cases"]:
        case.update(status="failed", verified=False)
    with pytest.raises(ResultError, match="no measured case"):
        errors_of([read(document)])


def test_a_simulated_result_cannot_tell_the_error(read):
    document = sample_results.make_result() | {"simulated": True}
    with pytest.raises(ResultError, match="is simulated; --measured takes measured results"):
        errors_of([read(document)])
