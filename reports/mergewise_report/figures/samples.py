# SPDX-License-Identifier: Apache-2.0
"""Every sample in the order measured, warm-up included, as deviation from the case's median."""

import math

import numpy as np
from matplotlib.figure import Figure

from mergewise_report import metrics
from mergewise_report.figures import canvas
from mergewise_report.units import axis_percent, duration, percent, plural, shorten

# Above this many samples a panel shows the least and the largest of each bin.
MOST_DOTS = 600
_COLUMNS = 3


def drawable(rows):
    return [r for r in rows if metrics.is_timed(r.case) and r.case.samples_ns]


def draw(rows, size):
    rows = drawable(rows)
    columns = 1 if size.narrow else min(_COLUMNS, len(rows))
    left, gap, title, plot, below = 46, 26, 24, 84 if size.narrow else 96, 24
    width = (size.width - left - 8 - gap * (_COLUMNS - 1)) / _COLUMNS
    if size.narrow:
        width = size.width - left - 8
    lines = math.ceil(len(rows) / columns)
    height = lines * (title + plot + below)
    figure = Figure(figsize=(size.width / 72, height / 72), dpi=72)
    limit = limit_of(rows)
    for index, row in enumerate(rows):
        line, column = divmod(index, columns)
        x, y = left + column * (width + gap), line * (title + plot + below) + title
        ax = canvas.axes(figure, x, y, width, plot)
        _panel(ax, row, limit, column == 0, width)
    return figure


def deviations(case):
    """(warm-up, samples) as value / median - 1."""
    middle = case.summary.median_ns or 1.0
    return (
        [v / middle - 1 for v in case.warmup_ns],
        [v / middle - 1 for v in case.samples_ns],
    )


def limit_of(rows):
    """The common half height: 98 % of the samples and room, between 2 % and 50 %."""
    values = [abs(v) for r in rows for v in deviations(r.case)[1]]
    wanted = 1.2 * float(np.quantile(values, 0.98))
    steps = (0.02, 0.05, 0.1, 0.2, 0.5)
    return next((s for s in steps if s >= wanted), steps[-1])


def _panel(ax, row, limit, labelled, width):
    case = row.case
    warm, measured = deviations(case)
    count = len(warm) + len(measured)
    ax.set_xlim(-0.5, max(count, 2) - 0.5)
    ax.set_ylim(-limit, limit)
    ticks = [-limit, 0.0, limit]
    ax.set_yticks(ticks, [axis_percent(t) if labelled else "" for t in ticks])
    ax.grid(axis="y", color=canvas.ink("grid"), linewidth=1)
    ax.set_xticks([])
    low, high = case.summary.low_ns, case.summary.high_ns
    if metrics.has_interval(case.summary) and case.summary.median_ns:
        edges = [max(-limit, min(limit, v / case.summary.median_ns - 1)) for v in (low, high)]
        canvas.boxes(ax, [(len(warm) - 0.5, count - 0.5, *edges)], "band")
    _dots(ax, 0, warm, limit, "idle", width)
    _dots(ax, len(warm), measured, limit, "mark", width)
    if warm:
        x = len(warm) - 0.5
        canvas.strokes(ax, [(x, -limit, x, limit)], "muted", 1)
    top = {"xycoords": "axes fraction", "va": "center", "annotation_clip": False}
    ax.annotate(shorten(row.name, 24), (0, 1.13), color=canvas.ink("ink"), weight="bold", **top)
    ax.annotate(
        duration(case.summary.median_ns), (1, 1.13), ha="right", color=canvas.ink("muted"), **top
    )
    text = plural(len(measured), "sample")
    if warm:
        text = f"{len(warm)} warm-up, then {text}"
    ax.annotate(text, (0, -0.12), color=canvas.ink("muted"), size=10.5, **top)


def _dots(ax, first, values, limit, colour, width):
    kept = thin(list(enumerate(values, first)))
    inside = [(x, v, x, v) for x, v in kept if abs(v) <= limit]
    thick = 4.5 if len(kept) < width / 6 else 3.0
    canvas.strokes(ax, inside, colour, thick, round_ends=True)
    for sign, marker in ((1, "^"), (-1, "v")):
        beyond = [x for x, v in kept if v * sign > limit]
        if beyond:
            ax.plot(
                beyond,
                [sign * limit] * len(beyond),
                marker,
                color=canvas.ink("bad" if colour == "mark" else colour),
                markersize=6,
                markeredgewidth=0,
                clip_on=False,
            )


def thin(points):
    """At most about MOST_DOTS points: of each bin the least and the largest, in order."""
    if len(points) <= MOST_DOTS:
        return points
    kept = []
    for part in np.array_split(np.arange(len(points)), MOST_DOTS // 2):
        inside = [points[i] for i in part]
        extremes = {min(inside, key=lambda p: p[1]), max(inside, key=lambda p: p[1])}
        kept += sorted(extremes)
    return kept


def describe(rows):
    said = []
    for row in drawable(rows):
        _, measured = deviations(row.case)
        said.append(
            f"{row.name} {plural(len(measured), 'sample')} from "
            f"{percent(min(measured), signed=True)} to {percent(max(measured), signed=True)}"
        )
    return "Samples in the order measured, relative to each median: " + "; ".join(said) + "."
