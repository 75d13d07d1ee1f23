# SPDX-License-Identifier: Apache-2.0
"""Bars of an iteration's median: compute alone, tax, what communication still costs."""

from mergewise_report import metrics
from mergewise_report.figures import canvas
from mergewise_report.units import duration, in_unit, percent, time_unit

_LEGEND = (
    ("compute", "compute alone", lambda split: split.compute_ns),
    ("tax", "compute slowed by communication", lambda split: split.tax_ns),
    ("exposed", "communication not hidden", lambda split: split.known and split.exposed_ns),
    ("other", "not split: compute alone was not measured", lambda split: not split.known),
)


def drawable(rows):
    return [r for r in rows if metrics.is_timed(r.case)]


def legend(rows):
    splits = [metrics.parts(r.case) for r in rows]
    return [(colour, text) for colour, text, shown in _LEGEND if any(map(shown, splits))]


def unit_of(rows):
    return time_unit(min(r.case.summary.median_ns for r in rows))


def draw(rows, size):
    unit = unit_of(rows)
    step, thick = (44, 16) if size.narrow else (36, 20)
    margin, names = canvas.gutter([r.name for r in rows], 24)
    left, right, top = (2, 10, 24) if size.narrow else (margin, 150, 24)
    height = top + step * len(rows) + 26
    largest = axis_end(rows)
    figure, ax = canvas.row_axes(size, height, left, right, top, 26, largest, unit)
    for index, row in enumerate(rows):
        middle = step * index + (31 if size.narrow else step / 2)
        _bar(ax, row, middle, thick, unit)
        value = in_unit(row.case.summary.median_ns, unit) + "\u00a0" + unit[0]
        behind = "" if row.standing == "fastest" else percent(row.longer, signed=True)
        if size.narrow:
            above = step * index + 13
            canvas.within(ax, 0, above, names[index], weight="bold")
            canvas.within(ax, 1, above, f"{value}   {behind}".rstrip(), "right")
        else:
            canvas.beside(ax, middle, names[index], weight="bold")
            canvas.beside(ax, middle, value, "right", offset=10)
            canvas.beside(ax, middle, behind, "right", "muted", offset=92)
    _floor(ax, rows, unit, top, step, size.narrow)
    return figure


def axis_end(rows):
    return canvas.axis_end([_end(r.case) for r in rows])


def is_cut(rows):
    return any(_end(r.case) > axis_end(rows) for r in rows)


def _end(case):
    ends = (case.summary.median_ns, case.summary.high_ns)
    return max(v for v in ends if v is not None) * 1.005


def _bar(ax, row, middle, thick, unit):
    case = row.case
    split = metrics.parts(case)
    begin, limit = 0.0, ax.get_xlim()[1]
    colours = ("compute", "tax", "exposed" if split.known else "other")
    for value, colour in zip((split.compute_ns, split.tax_ns, split.exposed_ns), colours):
        if value > 0 and begin / unit[1] < limit:
            end = min(limit, (begin + value) / unit[1])
            box = (begin / unit[1], end, middle - thick / 2, middle + thick / 2)
            canvas.boxes(ax, [box], colour, "panel")
        begin += value
    if begin / unit[1] > limit:
        canvas.cut_mark(ax, middle, thick)
    elif metrics.has_interval(case.summary):
        low, high = case.summary.low_ns / unit[1], case.summary.high_ns / unit[1]
        canvas.whisker(ax, middle, low, min(high, limit), thick / 4)


def _floor(ax, rows, unit, top, step, narrow):
    """A line at the compute that no merging can remove, where the rows agree on it."""
    alone = [r.case.compute_alone_ns for r in rows if r.case.compute_alone_ns is not None]
    if not alone or max(alone) > 1.02 * min(alone):
        return
    x = min(alone) / unit[1]
    lines = [(x, -4, x, step * len(rows))]
    if narrow:  # not through the names above the bars
        lines = [(x, step * i + 20, x, step * i + 42) for i in range(len(rows))]
    canvas.strokes(ax, lines, "ink", 1)
    fraction = x / ax.get_xlim()[1]
    align = "left" if fraction < 0.2 else ("right" if fraction > 0.8 else "center")
    text = f"compute alone {duration(min(alone))}"
    canvas.within(ax, fraction, -top / 2 - 2, text, align, "muted", size=11)


def describe(rows):
    said = []
    for row in rows:
        split = metrics.parts(row.case)
        text = f"{row.name} {duration(row.case.summary.median_ns)}"
        if split.known:
            text += f", of which {duration(split.exposed_ns)} communication not hidden"
        said.append(text)
    return "Bars of the median iteration time by strategy: " + "; ".join(said) + "."
