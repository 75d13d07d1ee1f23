# SPDX-License-Identifier: Apache-2.0
"""How far each prediction is from the measurement, with the interval and the 10 % band."""

from matplotlib.figure import Figure

from mergewise_report import metrics
from mergewise_report.figures import canvas
from mergewise_report.units import axis_percent, percent

_STEP = 30


def drawable(rows):
    return [r for r in rows if error_of(r.case) is not None]


def error_of(case):
    """predicted / median - 1 as the file gives it; nothing without a timing."""
    return case.prediction_error if metrics.is_timed(case) else None


def interval_of(case):
    """The error at both ends of the median's interval, least first."""
    summary = case.summary
    if not metrics.has_interval(summary) or not case.predicted_ns:
        return None
    if not (summary.low_ns > 0 and summary.high_ns > 0):
        return None
    return (case.predicted_ns / summary.high_ns - 1, case.predicted_ns / summary.low_ns - 1)


def draw(rows, size):
    rows = drawable(rows)
    left, names = canvas.gutter([r.name for r in rows], 13 if size.narrow else 17)
    right, top, bottom = 62, 22, 26
    plot = _STEP * len(rows)
    figure = Figure(figsize=(size.width / 72, (top + plot + bottom) / 72), dpi=72)
    ax = canvas.axes(figure, left, top, size.width - left - right, plot)
    errors = [abs(error_of(r.case)) for r in rows]
    limit = min(1.0, max(0.15, 1.15 * max(errors)))
    step = next(s for s in (0.05, 0.1, 0.25, 0.5) if limit / s <= (2.4 if size.narrow else 3.5))
    ticks = [i * step for i in range(-int(limit / step), int(limit / step) + 1)]
    ax.set_xlim(-limit, limit)
    ax.set_ylim(plot, 0)
    ax.set_yticks([])
    ax.set_xticks(ticks, [axis_percent(t) for t in ticks])
    ax.grid(axis="x", color=canvas.ink("grid"), linewidth=1)
    band = metrics.PREDICTION_BAND
    canvas.boxes(ax, [(-band, band, 0, plot)], "band")
    canvas.strokes(ax, [(0, 0, 0, plot)], "ink", 1)
    for where, text, align in (
        (-limit, "predicted too short", "left"),
        (limit, "too long", "right"),
    ):
        fraction = 0 if where < 0 else 1
        canvas.within(ax, fraction, -12, text, align, "muted", size=11)
    for index, row in enumerate(rows):
        _dot(ax, row, names[index], _STEP * (index + 0.5), limit)
    return figure


def _dot(ax, row, name, y, limit):
    error = error_of(row.case)
    outside = abs(error) > limit
    place = max(-limit, min(limit, error))
    bad = abs(error) > metrics.PREDICTION_BAND
    colour = "bad" if bad else "mark"
    interval = interval_of(row.case)
    if interval and not outside:
        canvas.whisker(ax, y, max(interval[0], -limit), min(interval[1], limit), 4, colour)
    canvas.strokes(ax, [(place, y, place, y)], colour, 10, round_ends=True, zorder=4)
    canvas.beside(ax, y, name, weight="bold")
    canvas.beside(ax, y, percent(error, signed=True), "right", colour if bad else "ink")


def describe(rows):
    said = [f"{r.name} {percent(error_of(r.case), signed=True)}" for r in drawable(rows)]
    return "Error of the predicted iteration time by strategy: " + "; ".join(said) + "."
