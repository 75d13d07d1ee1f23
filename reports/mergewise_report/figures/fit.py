# SPDX-License-Identifier: Apache-2.0
"""A calibration: its points on logarithmic axes, the fitted line, and what the line misses."""

import math

import numpy as np
from matplotlib.figure import Figure

from mergewise_report.figures import canvas
from mergewise_report.units import axis_percent, duration
from mergewise_report.units import size as size_text

_TOP, _PLOT, _GAP, _REST, _BELOW = 22, 210, 42, 84, 34


def drawable(calibration):
    return any(usable(p) for p in calibration.points)


def usable(point):
    return bool(point.bytes and point.bytes > 0 and point.ns and point.ns > 0)


def line_at(fit, count):
    if fit is None or fit.a_ns is None or fit.b_ns_per_byte is None:
        return None
    return fit.a_ns + fit.b_ns_per_byte * count


def residuals(calibration):
    """(point, line / point - 1) of the points that have a line."""
    found = [(p, line_at(calibration.fit, p.bytes)) for p in calibration.points if usable(p)]
    return [(p, line / p.ns - 1) for p, line in found if line is not None]


def draw(calibration, size):
    points = [p for p in calibration.points if usable(p)]
    rest = residuals(calibration)
    height = _TOP + _PLOT + _BELOW + (_GAP + _REST if rest else 0)
    figure = Figure(figsize=(size.width / 72, height / 72), dpi=72)
    ax = canvas.axes(figure, 62, _TOP, size.width - 78, _PLOT)
    xs = [p.bytes for p in points]
    times = [v for p in points for v in (p.ns, p.low_ns, p.high_ns) if v and v > 0]
    times += [v for v in (line_at(calibration.fit, x) for x in xs) if v]
    _log_axis(ax, "x", xs, size_text, not size.narrow)
    _log_axis(ax, "y", times, duration)
    _cost(ax, calibration, points)
    if rest:
        _residuals(figure, calibration, rest, size, ax.get_xlim())
        ax.set_xticklabels([])
    return figure


def _log_axis(ax, axis, values, words, wide=True):
    low, high = min(values) * 0.7, max(values) * 1.4
    decades = range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)
    ticks = [10.0**d for d in decades]
    if len(ticks) < 2:
        ticks = sorted({min(values), max(values)})
    ticks = ticks[:: 1 + len(ticks) // (7 if axis == "y" or wide else 5)]
    getattr(ax, f"set_{axis}scale")("log")
    getattr(ax, f"set_{axis}lim")(low, high)
    getattr(ax, f"set_{axis}ticks")(ticks, [_tick(words(t)) for t in ticks])
    getattr(ax, f"set_{axis}ticks")([], minor=True)
    ax.grid(axis=axis, color=canvas.ink("grid"), linewidth=1)


def _tick(text):
    """1.00 MB is 1 MB on an axis."""
    value, _, unit = text.partition("\u00a0")
    return (value.rstrip("0").rstrip(".") if "." in value else value) + "\u00a0" + unit


def rising(times):
    """What predictions make of times by size: where they fall, their geometric mean."""
    pools = []
    for time in times:
        pools.append([math.log(time)])
        while len(pools) > 1 and np.mean(pools[-2]) > np.mean(pools[-1]):
            last = pools.pop()
            pools[-1] += last
    return [math.exp(np.mean(pool)) for pool in pools for _ in pool]


def _cost(ax, calibration, points):
    xs = np.geomspace(*ax.get_xlim(), 60)
    if line_at(calibration.fit, 1) is not None:
        ys = [line_at(calibration.fit, x) for x in xs]
        style = "-" if calibration.used_line else (0, (4, 3))
        if min(ys) > 0:
            ax.plot(xs, ys, color=canvas.ink("predicted"), linewidth=1.6, linestyle=style)
    if not calibration.used_line:
        used = rising([p.ns for p in points])
        ax.plot([p.bytes for p in points], used, color=canvas.ink("mark"), linewidth=1.6)
    for point in points:
        if point.low_ns and point.high_ns and point.low_ns > 0:
            canvas.strokes(
                ax, [(point.bytes, point.low_ns, point.bytes, point.high_ns)], "mark", 1.4
            )
        dot = (point.bytes, point.ns, point.bytes, point.ns)
        canvas.strokes(ax, [dot], "mark", 7, round_ends=True)
    ax.annotate(
        "time of one by its size",
        (0, 1 + 11 / _PLOT),
        xycoords="axes fraction",
        va="center",
        color=canvas.ink("muted"),
        size=11,
    )


def _residuals(figure, calibration, rest, size, xlim):
    ax = canvas.axes(figure, 62, _TOP + _PLOT + _GAP, size.width - 78, _REST)
    ax.tick_params(axis="x", pad=12)
    largest = max(abs(r) for _, r in rest)
    limit = next((s for s in (0.1, 0.25, 0.5, 1.0) if s >= 1.05 * largest), 1.0)
    ax.set_xlim(xlim)
    _log_axis(ax, "x", [p.bytes for p, _ in rest], size_text, not size.narrow)
    ax.set_xlim(xlim)
    ax.set_ylim(-limit, limit)
    ax.set_yticks([-limit, 0, limit], [axis_percent(t) for t in (-limit, 0, limit)])
    ax.grid(axis="y", color=canvas.ink("grid"), linewidth=1)
    canvas.strokes(ax, [(xlim[0], 0, xlim[1], 0)], "predicted", 1.4)
    dots = [(p.bytes, max(-limit, min(limit, r))) for p, r in rest]
    canvas.strokes(ax, [(x, 0, x, r) for x, r in dots], "mark", 1.4)
    canvas.strokes(ax, [(x, r, x, r) for x, r in dots], "mark", 7, round_ends=True)
    ax.annotate(
        "line / point − 1",
        (0, 1 + 13 / _REST),
        xycoords="axes fraction",
        va="center",
        color=canvas.ink("muted"),
        size=11,
    )


def describe(calibration):
    said = [f"{size_text(p.bytes)} {duration(p.ns)}" for p in calibration.points if usable(p)]
    return (
        f"Cost of {calibration.collective.replace('_', '-')} by size, points and fitted line: "
        + "; ".join(said)
        + "."
    )
