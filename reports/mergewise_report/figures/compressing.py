# SPDX-License-Identifier: Apache-2.0
"""Bars of the median iteration, grouped by compressor: layer-wise beside each merging."""

from mergewise_report import compression, metrics
from mergewise_report.figures import canvas
from mergewise_report.units import duration, in_unit, percent, time_unit

_THICK, _STEP, _GAP = 10, 12, 14
_NAME = 16  # above the bars of a narrow figure


def drawable(field):
    return field.clusters if sum(len(c.bars) for c in field.clusters) > 1 else []


def legend(field):
    return [(colour_of(name, field), _label(name)) for name in field.strategies]


def colour_of(strategy, field):
    return f"s{field.strategies.index(strategy) % canvas.SERIES}"


def _label(name):
    return name + (" (layer by layer)" if name == compression.ALONE else "")


def axis_end(field):
    return canvas.axis_end([_time(bar) for cluster in field.clusters for bar in cluster.bars])


def is_cut(field):
    return any(_time(bar) > axis_end(field) for cluster in field.clusters for bar in cluster.bars)


def _time(bar):
    return bar.case.summary.median_ns


def draw(field, size):
    clusters = field.clusters
    largest = axis_end(field) * 1.005
    unit = time_unit(min(_time(bar) for cluster in clusters for bar in cluster.bars))
    margin, names = canvas.gutter([c.compressor for c in clusters], 28)
    left, right, top = (2, 64, 4) if size.narrow else (margin, 150, 4)
    above = _NAME if size.narrow else 0
    heights = [above + _STEP * len(cluster.bars) + _GAP for cluster in clusters]
    figure, ax = canvas.row_axes(
        size, top + sum(heights) + 26, left, right, top, 26, largest, unit
    )
    y = 0
    for cluster, name, height in zip(clusters, names, heights):
        middle = y + _GAP / 2 + above + _STEP * len(cluster.bars) / 2
        if size.narrow:
            canvas.within(ax, 0, y + _GAP / 2 + 6, name, weight="bold", size=11)
        else:
            canvas.beside(ax, middle, name, weight="bold", size=11)
        fastest = min(_time(bar) for bar in cluster.bars)
        for index, bar in enumerate(cluster.bars):
            at = y + _GAP / 2 + above + _STEP * (index + 0.5)
            _bar(ax, bar, at, colour_of(bar.strategy, field), unit)
            value = in_unit(_time(bar), unit, 3) + "\u00a0" + unit[0]
            canvas.beside(ax, at, value, "right", offset=6, size=10)
            if not size.narrow and _time(bar) > fastest:
                behind = percent(_time(bar) / fastest - 1, signed=True)
                canvas.beside(ax, at, behind, "right", "muted", offset=88, size=10)
        y += height
    return figure


def _bar(ax, bar, middle, colour, unit):
    limit = ax.get_xlim()[1]
    end = _time(bar) / unit[1]
    box = (0, min(end, limit), middle - _THICK / 2, middle + _THICK / 2)
    canvas.boxes(ax, [box], colour, "panel")
    if end > limit:
        canvas.cut_mark(ax, middle, _THICK)
    elif metrics.has_interval(bar.case.summary):
        low, high = bar.case.summary.low_ns / unit[1], bar.case.summary.high_ns / unit[1]
        canvas.whisker(ax, middle, low, min(high, limit), 2, width=1)


def describe(field):
    said = []
    for cluster in field.clusters:
        times = ", ".join(f"{bar.strategy} {duration(_time(bar))}" for bar in cluster.bars)
        said.append(f"{cluster.compressor}: {times}")
    return "Bars of the median iteration time by compressor and strategy: " + "; ".join(said) + "."
