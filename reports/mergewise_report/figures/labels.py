# SPDX-License-Identifier: Apache-2.0
"""Where the time of an iteration went: one stacked bar a strategy, the labels of design and docs."""

from mergewise_report.figures import canvas
from mergewise_report.units import duration, in_unit, time_unit
from mergewise_report.words import ACTIVITIES

ORDER = ("compute", "pack", "update", "transfer", "wait", "idle")
_STEP, _THICK = 30, 18
_VISIBLE = 0.002  # of a bar


def drawable(rows):
    return [r for r in rows if r.case.breakdown and total(r.case) > 0]


def axis_end(rows):
    return canvas.axis_end([total(r.case) for r in rows])


def is_cut(rows):
    rows = drawable(rows)
    return any(total(r.case) > axis_end(rows) for r in rows)


def total(case):
    return sum(max(0.0, v or 0.0) for v in case.breakdown.labels_ns.values())


def legend(rows):
    """(colour, label) of the labels that can be seen anywhere, in drawing order."""
    found = set()
    for row in drawable(rows):
        least = _VISIBLE * min(total(row.case), axis_end(drawable(rows)))
        found |= {k for k, v in row.case.breakdown.labels_ns.items() if v and v > least}
    known = [name for name in ORDER if name in found]
    return [
        (colour_of(name), ACTIVITIES.get(name, name)) for name in known + sorted(found - set(ORDER))
    ]


def colour_of(name):
    return name if name in ORDER else "other"


def draw(rows, size):
    rows = drawable(rows)
    largest = axis_end(rows)
    unit = time_unit(largest)
    height = _STEP * len(rows) + 26 + 22
    left, names = canvas.gutter([r.name for r in rows], 13 if size.narrow else 17)
    figure, ax = canvas.row_axes(size, height, left, 66, 22, 26, largest * 1.005, unit)
    limit = ax.get_xlim()[1]
    for index, row in enumerate(rows):
        y, begin = _STEP * (index + 0.5), 0.0
        values = row.case.breakdown.labels_ns
        for name in [n for n in ORDER if n in values] + sorted(set(values) - set(ORDER)):
            value = max(0.0, values[name] or 0.0)
            if value > 0 and begin / unit[1] < limit:
                end = min(limit, (begin + value) / unit[1])
                box = (begin / unit[1], end, y - _THICK / 2, y + _THICK / 2)
                canvas.boxes(ax, [box], colour_of(name), "panel")
            begin += value
        if begin / unit[1] > limit:
            canvas.cut_mark(ax, y, _THICK)
        canvas.beside(ax, y, names[index], weight="bold")
        canvas.beside(ax, y, in_unit(begin, unit, 3) + "\u00a0" + unit[0], "right")
    return figure


def describe(rows):
    said = []
    for row in drawable(rows):
        values = row.case.breakdown.labels_ns.items()
        parts = [f"{ACTIVITIES.get(k, k)} {duration(v)}" for k, v in values if v and v > 0]
        said.append(f"{row.name}: " + ", ".join(parts))
    return "Time of an iteration by activity: " + "; ".join(said) + "."
