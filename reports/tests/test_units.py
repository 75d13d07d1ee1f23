# SPDX-License-Identifier: Apache-2.0
import math

import pytest

from mergewise_report import units


@pytest.mark.parametrize(
    ("value", "text"),
    [(412.3, "412"), (41.23, "41.2"), (4.123, "4.12"), (0.04123, "0.041"), (1327, "1,327"),
     (0, "0"), (0.4123, "0.412"), (-41.23, "−41.2"), (-0.00001, "0.000"),
     (None, "–"), (math.nan, "–"), (math.inf, "–")],
)  # fmt: skip
def test_numbers_have_three_significant_digits(value, text):
    assert units.number(value) == text


@pytest.mark.parametrize(
    ("ns", "text"),
    [(412e6, "412 ms"), (9_999e6, "9,999 ms"), (12e9, "12.0 s"), (350e3, "350 µs"), (12.0, "12.0 ns"),
     (0, "0 ms"), (None, "–")],
)  # fmt: skip
def test_durations_choose_a_readable_unit(ns, text):
    assert units.duration(ns) == text.replace(" ", units.NBSP)


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.183, "18 %"), (0.0312, "3.1 %"), (0.0996, "10 %"), (1.512, "151 %"), (0.0004, "0 %"),
     (-0.02, "−2.0 %"), (None, "–")],
)  # fmt: skip
def test_percentages_have_two_digits_at_least_below_ten(share, text):
    assert units.percent(share) == text.replace(" ", units.NBSP)


def test_a_signed_percentage_shows_plus():
    assert units.percent(0.02, signed=True) == "+2.0\u00a0%"


def test_a_range_says_its_unit_once():
    assert units.between(412e6, 415e6) == "412 to 415\u00a0ms"


def test_a_range_that_reads_the_same_at_both_ends_is_one_duration():
    assert units.between(412.1e6, 412.2e6) == "412\u00a0ms"


def test_option_sizes_are_binary_where_they_come_out_even():
    assert units.binary_size(26214400) == "25\u00a0MiB"
    assert units.binary_size(25000000) == "25.0\u00a0MB"


@pytest.mark.parametrize(
    ("parts", "text"),
    [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")],
)
def test_lists_of_words_end_in_and(parts, text):
    assert units.join_words(parts) == text
