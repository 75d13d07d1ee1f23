# SPDX-License-Identifier: Apache-2.0
import re
from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure

from mergewise_report import metrics
from mergewise_report.figures import bars, canvas, fit, labels, prediction, samples, scaling, timeline

MODULES = {
    "bars": bars,
    "labels": labels,
    "prediction": prediction,
    "samples": samples,
    "timeline": timeline,
}


@pytest.fixture
def rows(read, document):
    return metrics.sections(read(document))[0].timed


def drawn(module, data, size=canvas.WIDE):
    return str(canvas.render(lambda: module.draw(data, size), "x1", module.describe(data)))


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize("size", [canvas.WIDE, canvas.HALF, canvas.NARROW])
def test_a_figure_is_well_formed_and_follows_the_theme(rows, name, size):
    svg = drawn(MODULES[name], rows, size)
    root = ElementTree.fromstring(svg)
    assert root.get("viewBox").startswith(f"0 0 {size.width} ")
    assert root.get("role") == "img" and len(root.get("aria-label")) > 40
    assert "var(--" in svg
    assert not re.search(r"#[0-9a-f]{6}", svg), "a colour that does not follow the theme"
    assert "font-family" not in svg and "<style" not in svg and "<metadata" not in svg


@pytest.mark.parametrize("name", MODULES)
def test_the_alternative_text_names_every_strategy(rows, name):
    text = MODULES[name].describe(rows)
    assert all(row.name in text for row in rows)


@pytest.mark.parametrize("name", MODULES)
def test_drawing_twice_gives_the_same_bytes(rows, name):
    assert drawn(MODULES[name], rows) == drawn(MODULES[name], rows)


def test_ids_and_what_refers_to_them_carry_the_figure_s_name():
    def draw():
        figure = Figure(figsize=(2, 2))
        ax = figure.add_axes((0, 0, 1, 1))
        ax.plot([0, 1, 2], [0, 5, 2], "o")  # markers are defined once and used by reference
        ax.set_xlim(0.5, 1.5)  # and lines are clipped
        return figure

    svg = str(canvas.render(draw, "here", "a plot"))
    ids = re.findall(r'\bid="([^"]+)"', svg)
    references = re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', svg)
    assert ids and all(i.startswith("here-") for i in ids) and len(ids) == len(set(ids))
    assert references and {a or b for a, b in references} <= set(ids)


def test_a_name_is_text_and_neither_markup_nor_a_formula(read, document):
    document["cases"][0]["strategy"] = "<b>$x^2$ & \\alpha_\u65e5"
    svg = drawn(bars, metrics.sections(read(document))[0].timed)
    assert "<b>" not in svg
    assert "<b>$x^2$ & \\alpha_\u65e5" in "".join(ElementTree.fromstring(svg).itertext())


def test_paths_are_compact_and_unchanged():
    assert (
        canvas.compact_path("M 10.004 20.5 L 30.25 20.5 L 30.25 40 L 10 40 z ")
        == "M10 20.5H30.25V40H10z"
    )
    assert canvas.compact_path("M 1 1 \nL 1 1 \n") == "M1 1V1"
    assert canvas.compact_path("M 0 0 L 5 5 z L 5 9") == "M0 0L5 5zL5 9"


def test_spans_too_narrow_to_see_are_joined_and_others_kept():
    fine = [[i * 1.0, i + 0.9, 0, 1] for i in range(100)]
    assert timeline.coalesce(fine, pixel=10.0) == [[0.0, 99.9, 0, 1]]
    assert timeline.coalesce(fine, pixel=0.1) == fine


def test_many_spans_stay_small(read, document):
    case = document["cases"][0]
    case["spans"] = [
        {"rank": 0, "lane": "communication", "activity": "transfer", "group": g, "begin_ns": 1e5 * g,
         "end_ns": 1e5 * g + 9e4}
        for g in range(20_000)
    ]  # fmt: skip
    assert len(drawn(timeline, metrics.sections(read(document))[0].timed)) < 100_000


def test_thinning_keeps_the_extremes():
    points = [(i, 0.0) for i in range(5000)]
    points[1234], points[4321] = (1234, 0.9), (4321, -0.9)
    kept = samples.thin(points)
    assert len(kept) <= samples.MOST_DOTS and kept == sorted(kept)
    assert (1234, 0.9) in kept and (4321, -0.9) in kept


def test_a_sample_beyond_the_axis_is_marked(read, document):
    document["cases"][0]["samples_ns"][3] *= 40
    rows = metrics.sections(read(document))[0].timed
    assert "--bad" in drawn(samples, rows)


def test_a_failed_case_is_in_no_figure_of_measurements(read, document):
    document["cases"][0]["status"] = "failed"
    rows = metrics.sections(read(document))[0].rows
    for module in (prediction, samples):
        assert all(r.case.status == "ok" for r in module.drawable(rows))


def test_residuals_are_line_over_point(read, document):
    calibration = read(document).calibrations[0]
    point, rest = fit.residuals(calibration)[0]
    line = calibration.fit.a_ns + calibration.fit.b_ns_per_byte * point.bytes
    assert rest == pytest.approx(line / point.ns - 1)


def test_points_that_fall_are_drawn_at_their_geometric_mean():
    assert fit.rising([100, 900, 100, 1000, 800]) == pytest.approx([100, 300, 300, 894.42719, 894.42719])
    assert fit.rising([1, 2, 3]) == pytest.approx([1, 2, 3])


@pytest.mark.parametrize("used_line", [True, False])
@pytest.mark.parametrize("count", [1, 2, 9])
def test_a_calibration_of_any_size_can_be_drawn(read, document, used_line, count):
    given = document["calibrations"][0]
    given.update(points=given["points"][:count], used_line=used_line)
    assert "var(--mark)" in drawn(fit, read(document).calibrations[0], canvas.HALF)


def test_a_calibration_without_a_fit_shows_its_points(read, document):
    document["calibrations"][0]["fit"] = None
    calibration = read(document).calibrations[0]
    assert fit.residuals(calibration) == []
    assert "<svg" in drawn(fit, calibration, canvas.HALF)


def test_the_axis_ends_at_the_longest_time_of_comparable_ones():
    assert canvas.axis_end([100, 120, 240]) == 240
    assert canvas.axis_end([100]) == 100
    assert canvas.axis_end([]) == 1.0
    assert canvas.axis_end([0, 0]) == 1.0


def test_a_time_far_beyond_the_others_is_cut_and_marked(read, document):
    assert canvas.axis_end([100, 120, 140, 900]) == 175
    document["cases"] = document["cases"][1:]
    whole = metrics.sections(read(document))[0].timed
    assert not any(module.is_cut(whole) for module in (bars, labels, timeline))
    far = document["cases"][0]
    far["summary"]["median_ns"] *= 9
    far["spans"][-1]["end_ns"] *= 9
    far["breakdown"]["labels_ns"]["idle"] = 9e9
    cut = metrics.sections(read(document))[0].timed
    assert all(module.is_cut(cut) for module in (bars, labels, timeline))
    for module in (bars, labels, timeline):
        width = float(re.search(r'viewBox="0 0 (\d+)', drawn(module, cut))[1])
        longest = max(float(x) for x in re.findall(r"[HL]([\d.]+)", drawn(module, cut)))
        assert longest <= width


def test_legends_name_only_what_can_be_seen(read, document):
    rows = metrics.sections(read(document))[0].timed
    assert [text for _, text in bars.legend(rows)] == ["compute alone", "communication not hidden"]
    assert "pack, unpack" not in [text for _, text in timeline.legend(rows)]
    assert "idle" not in [text for _, text in labels.legend(rows)]


def curve(name, times, colour=0, band=()):
    points = tuple((2 ** (i + 1), ns) for i, ns in enumerate(times))
    return scaling.Curve(name, name[0].upper(), colour, points, band)


def chart(*curves, kind="time", bound=(), alone=None):
    return scaling.Chart(kind, curves, bound, alone or {2: 90e6, 4: 90e6, 8: 90e6})


@pytest.mark.parametrize("kind", ["time", "efficiency"])
@pytest.mark.parametrize("size", [canvas.HALF, canvas.NARROW])
def test_scaling_curves_are_well_formed_and_follow_the_theme(kind, size):
    band = ((2, 90e6, 120e6), (4, 90e6, 130e6), (8, 100e6, 150e6))
    one = curve("wfbp", (100e6, 110e6, 120e6), band=band)
    data = chart(one, curve("ddp", (99e6, 100e6, 101e6), 1), kind=kind, bound=((2, 9e7), (8, 9e7)))
    svg = drawn(scaling, data, size)
    assert ElementTree.fromstring(svg).get("role") == "img"
    assert "var(--s0)" in svg and "var(--s1)" in svg and "optimal" in svg
    assert not re.search(r"#[0-9a-f]{6}", svg)
    assert svg == drawn(scaling, data, size)
    assert "wfbp" in scaling.describe(data) and "ddp" in scaling.describe(data)


def test_a_band_is_drawn_only_where_the_error_is_known():
    band = ((2, 90e6, 120e6), (4, 90e6, 130e6), (8, 100e6, 150e6))
    times = (100e6, 110e6, 120e6)
    assert "opacity" in drawn(scaling, chart(curve("wfbp", times, band=band)), canvas.HALF)
    assert "opacity" not in drawn(scaling, chart(curve("wfbp", times)), canvas.HALF)


def test_efficiency_is_the_iteration_of_one_rank_over_that_of_all():
    data = chart(curve("wfbp", (100e6, 180e6)), kind="efficiency", alone={2: 90e6, 4: 90e6})
    found = scaling.points(data, data.curves[0].points)
    assert found == [(2, pytest.approx(0.9)), (4, pytest.approx(0.5))]


def test_without_the_compute_time_there_is_no_efficiency_to_draw():
    data = scaling.Chart("efficiency", (curve("wfbp", (100e6, 180e6)),), (), {})
    assert scaling.drawable(data) is None


def test_one_number_of_ranks_is_no_curve():
    assert scaling.drawable(chart(curve("wfbp", (100e6,)))) is None


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ([50, 100], [50, 100]),
        ([50, 50], [43, 57]),
        ([50, 50, 58], [38.67, 52.67, 66.67]),
        ([0, 0], [0, 14]),
        ([200, 200], [193, 207]),
    ],
)
def test_names_of_curves_that_end_together_move_apart(wanted, expected):
    assert scaling.spread(wanted, 14, 200) == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize(("low", "high"), [(3, 3000), (0.9, 1.1), (150, 990000), (7, 8e9)])
def test_ticks_of_a_logarithmic_axis_enclose_the_values_and_are_few(low, high):
    ticks = scaling.log_ticks(low, high)
    assert ticks[0] <= low and ticks[-1] >= high and 2 <= len(ticks) <= 12


@pytest.mark.parametrize(("low", "high"), [(0, 3000), (177, 183), (0.62, 1.0), (90, 100)])
def test_ticks_of_a_linear_axis_enclose_the_values_and_are_few(low, high):
    ticks = scaling.linear_ticks(low, high)
    assert ticks[0] <= low and ticks[-1] >= high and 2 <= len(ticks) <= 8
