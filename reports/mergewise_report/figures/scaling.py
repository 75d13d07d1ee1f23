# SPDX-License-Identifier: Apache-2.0
"""Iteration time, or scaling efficiency, over the number of ranks: one line for each strategy."""

import math
from dataclasses import dataclass

from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from matplotlib.ticker import NullLocator

from mergewise_report.figures import canvas
from mergewise_report.units import duration, percent, shorten, time_unit

HEIGHT = 330
_TOP, _BOTTOM = 14, 42
_LABEL = 14  # pixels between the names at the right
_REACH = 20  # pixels from the curves to their names
_DASHES = ((None, None), (6, 2), (2, 1.5), (7, 2, 1.5, 2))
_SPREAD = 6  # from this ratio of times on, their axis is logarithmic


@dataclass(frozen=True)
class Curve:
    """A strategy's predicted times; `colour` counts through canvas.SERIES."""

    name: str
    letter: str
    colour: int
    points: tuple  # (ranks, ns), fewest ranks first
    band: tuple  # (ranks, least ns, largest ns); empty where the error is not known


@dataclass(frozen=True)
class Chart:
    kind: str  # time | efficiency
    curves: tuple[Curve, ...]
    bound: tuple  # (ranks, ns) of the optimum
    alone: dict  # ranks -> ns without any communication


def value(chart, ranks, ns):
    """A time as the chart shows it: itself, or one rank's time / it; None if that is unknown."""
    if chart.kind == "time":
        return ns
    alone = chart.alone.get(ranks)
    return alone / ns if alone and ns else None


def points(chart, found):
    values = [(ranks, value(chart, ranks, ns)) for ranks, ns in found]
    return [(ranks, v) for ranks, v in values if v is not None]


def drawable(chart):
    return chart if any(len(points(chart, c.points)) > 1 for c in chart.curves) else None


def draw(chart, size):
    left, right = (46, 84) if size.narrow else (56, 128)
    figure = Figure(figsize=(size.width / 72, HEIGHT / 72), dpi=72)
    plot = HEIGHT - _TOP - _BOTTOM
    ax = canvas.axes(figure, left, _TOP, size.width - left - right, plot)
    _ranks_axis(ax, chart, size)
    _value_axis(ax, chart)
    ax.grid(axis="y", color=canvas.ink("grid"), linewidth=1)
    for curve in chart.curves:
        _band(ax, chart, curve)
    for curve in chart.curves:
        _line(ax, points(chart, curve.points), canvas.series(curve.colour), _dash(curve.colour))
    bound = points(chart, chart.bound)
    _line(ax, bound, canvas.ink("ink"), (1.2, 2.2), 1.5, "")
    _names(ax, chart, bound, plot, 8 if size.narrow else 14)
    return figure


def _dash(colour):
    return _DASHES[colour // canvas.SERIES % len(_DASHES)]


def _line(ax, found, colour, dash, width=1.9, marker="o"):
    if not found:
        return
    (drawn,) = ax.plot(*zip(*found), color=colour, linewidth=width, marker=marker, markersize=3.4)
    drawn.set_clip_on(False)
    drawn.set_solid_joinstyle("round")
    if dash[0] is not None:
        drawn.set_dashes(dash)


def _band(ax, chart, curve):
    """The area between both ends of the band, in the curve's colour, pale."""
    lower = points(chart, [(ranks, low) for ranks, low, _ in curve.band])
    upper = points(chart, [(ranks, high) for ranks, _, high in curve.band])
    if len(lower) < 2:
        return
    area = Polygon(lower + upper[::-1], closed=True, facecolor=canvas.series(curve.colour))
    area.set_alpha(0.16)
    area.set_linewidth(0)
    ax.add_patch(area)


def _ranks_axis(ax, chart, size):
    ranks = sorted({ranks for curve in chart.curves for ranks, _ in curve.points})
    ax.set_xscale("log", base=2)
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlim(ranks[0], ranks[-1])
    shown, last = [], -math.inf
    apart = math.log2(ranks[-1] / ranks[0]) * 34 / (size.width - (120 if size.narrow else 180))
    for count in ranks:
        if math.log2(count) - last >= apart:
            shown.append(count)
            last = math.log2(count)
    ax.set_xticks(shown, [f"{count}" for count in shown])
    ax.annotate(
        "ranks",
        xy=(0.5, 0),
        xycoords="axes fraction",
        xytext=(0, -30),
        textcoords="offset points",
        ha="center",
        color=canvas.ink("muted"),
        size=11,
        annotation_clip=False,
    )


def _value_axis(ax, chart):
    values = [v for c in chart.curves for _, v in points(chart, c.points)]
    values += [v for _, v in points(chart, chart.bound)]
    for curve in chart.curves:
        values += [v for r, *ends in curve.band for _, v in points(chart, [(r, e) for e in ends])]
    if chart.kind == "efficiency":
        ticks = linear_ticks(min(0.95, *values), max(1.0, *values))
        ax.set_ylim(ticks[0], ticks[-1])
        ax.set_yticks(ticks, [percent(t) if t else "0" for t in ticks])
        return
    unit = time_unit(max(values))
    if max(values) > _SPREAD * min(values):
        ax.set_yscale("log")
        ax.yaxis.set_minor_locator(NullLocator())
        ticks = log_ticks(min(values), max(values))
        ax.set_ylim(min(ticks[0], min(values)), max(ticks[-1], max(values)))
    else:
        ticks = linear_ticks(min(0.8 * max(values), *values), max(values))
        ax.set_ylim(ticks[0], ticks[-1])
    labels = [f"{t / unit[1]:,.6g}" for t in ticks]
    labels[-1] += "\u00a0" + unit[0]
    ax.set_yticks(ticks, labels)


def log_ticks(low, high):
    """1, 2 and 5 times powers of ten from below `low` to above `high`, or the powers alone."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1, 2, 5), (1, 3), (1,)):
        ticks = [s * 10.0**p for p in powers for s in steps]
        below = max((t for t in ticks if t <= low), default=ticks[0])
        above = min((t for t in ticks if t >= high), default=ticks[-1])
        ticks = [t for t in ticks if below <= t <= above]
        if len(ticks) <= 8:
            break
    return ticks


def linear_ticks(low, high):
    """Even ticks from below `low` (0 if that is near) to above `high`."""
    low = 0.0 if low < 0.4 * high else low
    step = 10.0 ** math.floor(math.log10(high - low))
    step = next(step * s for s in (0.1, 0.2, 0.25, 0.5, 1, 2) if (high - low) / (step * s) <= 5)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [i * step for i in range(first, last + 1)]


def _names(ax, chart, bound, plot, longest):
    """Each line's name at its end, moved apart where lines end together."""
    ends = []
    for curve in chart.curves:
        found = points(chart, curve.points)
        if found:
            text = f"{curve.letter}  {shorten(curve.name, longest)}" if curve.letter else curve.name
            ends.append((found[-1][1], text, canvas.series(curve.colour)))
    if bound:
        ends.append((bound[-1][1], "optimal", canvas.ink("ink")))
    figure_of = ax.transData.transform
    right = ax.get_xlim()[1]
    wanted = [plot - (figure_of((right, v))[1] - ax.get_window_extent().y0) for v, _, _ in ends]
    for (_, text, colour), y, place in zip(ends, wanted, spread(wanted, _LABEL, plot)):
        ax.annotate(
            text,
            xy=(1, 1 - place / plot),
            xycoords="axes fraction",
            xytext=(_REACH + 5, 0),
            textcoords="offset points",
            ha="left",
            va="center",
            size=11,
            color=canvas.ink("ink"),
            annotation_clip=False,
        )
        _connect(ax, y, place, plot, colour)


def _connect(ax, y, place, plot, colour):
    """A thin line from the end of a curve to its name."""
    width = ax.get_window_extent().width
    steps = [(0, y), (0.35 * _REACH, y), (0.75 * _REACH, place), (_REACH, place)]
    xs = [1 + (x + 3) / width for x, _ in steps]
    ys = [1 - at / plot for _, at in steps]
    ax.plot(xs, ys, transform=ax.transAxes, color=colour, linewidth=1.1, clip_on=False, scalex=False, scaley=False)


def spread(wanted, apart, room):
    """Places near the wanted ones, at least `apart` from each other, within 0 and room + apart."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    clusters = []  # [middle, members]: who would overlap stands around the mean of what they want
    for i in order:
        clusters.append([wanted[i], [i]])
        while len(clusters) > 1 and _touch(*clusters[-2:], apart):
            last = clusters.pop()[1]
            members = clusters[-1][1] + last
            clusters[-1] = [sum(wanted[m] for m in members) / len(members), members]
    places, least = [0.0] * len(wanted), 0.0
    for middle, members in clusters:
        first = max(least, middle - apart * (len(members) - 1) / 2)
        for step, i in enumerate(members):
            places[i] = first + step * apart
        least = first + apart * len(members)
    limit = room + apart / 2
    for i in reversed(order):
        limit = places[i] = min(places[i], limit)
        limit -= apart
    return places


def _touch(one, other, apart):
    return other[0] - one[0] < apart * (len(one[1]) + len(other[1])) / 2


def describe(chart):
    said = []
    for curve in chart.curves:
        found = points(chart, curve.points)
        if found:
            say = duration if chart.kind == "time" else percent
            (first, low), (last, high) = found[0], found[-1]
            said.append(f"{curve.name} {say(low)} at {first} ranks, {say(high)} at {last}")
    what = "Iteration time" if chart.kind == "time" else "Scaling efficiency"
    return f"{what} over the number of ranks by strategy: " + "; ".join(said) + "."
