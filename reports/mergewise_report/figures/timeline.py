# SPDX-License-Identifier: Apache-2.0
"""One iteration of every strategy on a common time axis: measured lanes, predicted ones below."""

from mergewise_report.figures import canvas
from mergewise_report.metrics import is_timed
from mergewise_report.units import duration, shorten, time_unit

_LEGEND = (
    ("forward", "forward"),
    ("compute", "backward"),
    ("pack", "pack, unpack"),
    ("transfer", "transfer"),
    ("wait", "wait for the last rank"),
)
_MEASURED, _PREDICTED, _LINE, _SPACE = 15, 8, 24, 14
# Spans narrower than this many pixels are drawn together with their neighbours.
_FINEST = 0.35
_VISIBLE = 0.001  # of an iteration


def draw(rows, size):
    largest = axis_end(rows)
    unit = time_unit(largest)
    left, right = (62, 12) if size.narrow else (96, 16)
    bands = _bands(rows, size)
    step = _LINE + sum(2 * thick + 6 for _, thick, _ in bands) + _SPACE - 4
    height = step * len(rows) + 26
    figure, ax = canvas.row_axes(size, height, left, right, 0, 26, largest, unit)
    pixel = largest / (size.width - left - right)
    for index, row in enumerate(rows):
        canvas.within(ax, 0, step * index + 13, _title(row, size), weight="bold")
        ends = _ends(row.case, size.narrow)
        canvas.within(ax, 1, step * index + 13, ends, "right", "muted", size=11)
        _strategy(ax, row.case, step * index + _LINE, bands, unit, pixel)
    return figure


def _bands(rows, size):
    """(spans of a case, height, names) of the lanes; without measured spans only the predicted."""
    lanes = ("compute", "comm." if size.narrow else "communication")
    if not any(spans_of(r.case) for r in rows):
        return [(predicted_of, _MEASURED, lanes)]
    return [(spans_of, _MEASURED, lanes), (predicted_of, _PREDICTED, ("predicted", ""))]


def _title(row, size):
    return shorten(row.name, 20 if size.narrow else 60)


def drawable(rows):
    return [r for r in rows if end_of(r.case) > 0]


def axis_end(rows):
    return canvas.axis_end([end_of(r.case) for r in rows])


def is_cut(rows):
    return any(end_of(r.case) > axis_end(rows) for r in rows)


def legend(rows):
    """(colour, label) of what takes enough time in some iteration to be seen."""
    found = set()
    for row in rows:
        times = {}
        for span in spans_of(row.case) + row.case.predicted_spans:
            colour = _look(span, _MEASURED)[0].removesuffix("-2")
            times[colour] = times.get(colour, 0.0) + span.end_ns - span.begin_ns
        least = _VISIBLE * min(end_of(row.case), axis_end(rows))
        found |= {colour for colour, time in times.items() if time > least}
    return [(colour, text) for colour, text in _LEGEND if colour in found]


def spans_of(case):
    """The measured spans; none without a timing, so that a failed case shows none."""
    return case.spans if is_timed(case) else ()


def predicted_of(case):
    return case.predicted_spans


def end_of(case):
    return max((s.end_ns for s in spans_of(case) + case.predicted_spans), default=0.0)


def _strategy(ax, case, y, bands, unit, pixel):
    for spans_in, thick, names in bands:
        spans = spans_in(case)
        for lane, name in zip(("compute", "communication"), names):
            middle = y + (thick / 2 if name != "predicted" else thick + 1)
            if name:
                colour = "muted" if spans else "grid"
                canvas.beside(ax, middle, name, colour=colour, size=10.5, offset=7)
            _lane(ax, [s for s in spans if s.lane == lane], y, thick, unit, pixel)
            y += thick + 2
        end = max((s.end_ns for s in spans), default=0.0) / unit[1]
        if 0 < end <= ax.get_xlim()[1] * 1.0001:
            canvas.strokes(ax, [(end, y - 2 * thick - 4, end, y - 2)], "ink", 1.2)
        y += 2


def _ends(case, narrow):
    measured = max((s.end_ns for s in spans_of(case)), default=None)
    predicted = max((s.end_ns for s in case.predicted_spans), default=None)
    if narrow:
        return f"{duration(measured)}, pred. {duration(predicted)}"
    return (
        f"this iteration {duration(measured)}, predicted {duration(predicted)}"
        if measured is not None
        else f"not measured, predicted {duration(predicted)}"
    )


def _lane(ax, spans, top, thick, unit, pixel):
    drawn, limit = {}, ax.get_xlim()[1] * unit[1]
    for span in spans:
        if span.begin_ns >= limit:
            continue
        colour, inset = _look(span, thick)
        box = [span.begin_ns, min(limit, span.end_ns), top + inset, top + thick - inset]
        drawn.setdefault(colour, []).append(box)
    for colour, found in drawn.items():
        merged = [(a / unit[1], b / unit[1], c, d) for a, b, c, d in coalesce(found, pixel)]
        canvas.boxes(ax, merged, colour)
    if any(s.end_ns > limit * 1.0001 for s in spans):
        canvas.cut_mark(ax, top + thick / 2, thick)


def _look(span, thick):
    """Colour and inset; the shade alternates with the group, and waiting is a thin line."""
    shade = "-2" if span.group % 2 else ""
    if span.activity == "wait":
        return "wait", 0.36 * thick
    if span.activity == "forward":
        return "forward", 0.0
    if span.lane == "communication":
        return "transfer" + shade, 0.0
    if span.activity == "backward":
        return "compute" + shade, 0.0
    return "pack" + shade, 0.0


def coalesce(found, pixel):
    """Joins boxes of one row that are too narrow, and too near to each other, to be told apart."""
    out = []
    for box in sorted(found):
        last = out[-1] if out else None
        tiny = box[1] - box[0] < _FINEST * pixel
        if last and tiny and box[0] - last[1] < _FINEST * pixel and last[2:] == box[2:]:
            last[1] = max(last[1], box[1])
        else:
            out.append(list(box))
    return out


def describe(rows):
    said = [
        f"{r.name} measured {duration(max((s.end_ns for s in spans_of(r.case)), default=None))}, "
        f"predicted {duration(max((s.end_ns for s in r.case.predicted_spans), default=None))}"
        for r in rows
    ]
    return (
        "Timelines of one iteration by strategy, a compute and a communication lane, measured "
        "above predicted: " + "; ".join(said) + "."
    )
