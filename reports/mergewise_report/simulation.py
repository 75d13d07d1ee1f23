# SPDX-License-Identifier: Apache-2.0
"""What the page shows of a simulated result: scaling curves, break-even maps, who leads where."""

from dataclasses import dataclass

from mergewise_report import fields, maps, simulation_words, units
from mergewise_report.figures import canvas, scaling

# Beyond these a page would be too heavy to open; the page says what it left out.
MOST_NETWORKS_WITH_CURVES = 3
MOST_CURVES = 12
MOST_CHARTS = 24
MOST_BANDS = 4  # more of them hide each other; then only the leader and layer-wise have one
# A map of fewer networks shows nothing that the curves do not.
FEWEST_ROWS_OF_A_MAP = 2


@dataclass
class ChartView:
    title: str
    figures: list  # (heading, renditions) of time and efficiency
    ranks: tuple
    times: list  # (name, texts), one for each number of ranks
    unit: str
    left_out: int
    banded: list  # whose band is drawn


@dataclass
class MapsView:
    """The maps of one compressor, each None where there is none."""

    title: str
    legend: list  # (letter, colour, name)
    winners: object
    merging: object
    gaps: object
    behind: list  # (name, map) of each strategy


@dataclass
class FieldView:
    ident: str
    field: fields.Field
    lead: str
    rest: str
    charts: list
    networks_left_out: int
    maps: list
    compressing: object
    standings: list  # (title, rows)


@dataclass
class SimulationView:
    facts: list
    fields: list
    band: str
    errors: list
    skipped: list


def view(result, ident, errors=None):
    found = fields.fields(result)
    names = dict.fromkeys(name for one in found for name in one.strategies)
    letters = fields.letters(names)
    marks = {name: (letters[name], index) for index, name in enumerate(names)}
    left = MOST_CHARTS
    views = []
    for index, one in enumerate(found):
        made = _field(one, f"{ident}f{index + 1}", marks, errors, left)
        left -= len(made.charts)
        views.append(made)
    return SimulationView(
        facts=simulation_words.origin(result, found),
        fields=views,
        band=simulation_words.band(errors),
        skipped=simulation_words.skipped(result),
        errors=simulation_words.error_rows(errors, dict.fromkeys(
            strategy for one in found for strategy in one.strategies.values()
        )),
    )


def _field(one, ident, marks, errors, left):
    lead, rest = simulation_words.outcome(one, errors)
    drawn = chosen(one.networks)
    charts = []
    for compressor in one.compressors:
        for network in drawn:
            if len(charts) < left:
                at = f"{ident}c{len(charts) + 1}"
                charts += _chart(one, compressor, network, marks, errors, at)
    mapped = len(one.networks) >= FEWEST_ROWS_OF_A_MAP
    return FieldView(
        ident=ident,
        field=one,
        lead=lead,
        rest=rest,
        charts=charts,
        networks_left_out=len(one.networks) - len(drawn) if charts else 0,
        maps=[_maps(one, compressor, marks) for compressor in one.compressors] if mapped else [],
        compressing=maps.compressing(one) if mapped and len(one.compressors) > 1 else None,
        standings=[
            (_named(compressor, one), simulation_words.standings(one, compressor, marks))
            for compressor in one.compressors
        ],
    )


def chosen(networks):
    """The networks with curves: all of few, else the slowest, the fastest and those between."""
    if len(networks) <= MOST_NETWORKS_WITH_CURVES:
        return networks
    last = len(networks) - 1
    steps = MOST_NETWORKS_WITH_CURVES - 1
    return tuple(networks[round(i * last / steps)] for i in range(steps + 1))


def _named(compressor, one):
    if compressor == fields.DENSE:
        return "dense" if len(one.compressors) > 1 else ""
    return compressor


def _chart(one, compressor, network, marks, errors, ident):
    """One ChartView, or none where nothing runs along the ranks."""
    cells = {r: c for n, r, c in one.of(compressor) if n == network}
    bound = tuple((r, c.optimal_ns) for r, c in cells.items() if c.optimal_ns is not None)
    alone = {r: c.alone_ns for r, c in cells.items() if c.alone_ns is not None}
    banded = _banded(one, cells) if errors else ()
    curves = [
        _curve(one, name, cells, marks, errors if name in banded else None)
        for name in one.strategies
    ]
    curves = [curve for curve in curves if curve.points]
    figures = []
    for kind, heading in (("time", "Time of an iteration"), ("efficiency", "Scaling efficiency")):
        chart = scaling.drawable(scaling.Chart(kind, tuple(curves[:MOST_CURVES]), bound, alone))
        if chart:
            drawn = canvas.renditions(scaling, chart, f"{ident}-{kind}", canvas.HALF)
            figures.append((heading, drawn))
    if not figures:
        return []
    named = [one.where, network.rate] if one.where or not network.cluster else [network.cluster]
    named.append(_named(compressor, one))
    unit = units.time_unit(min(ns for curve in curves for _, ns in curve.points))
    rows = [(curve.name, dict(curve.points)) for curve in curves] + [(fields.BOUND, dict(bound))]
    return [
        ChartView(
            title=", ".join(text for text in named if text) or "Scaling",
            figures=figures,
            ranks=tuple(cells),
            times=[(name, [units.in_unit(t.get(r), unit) for r in cells]) for name, t in rows],
            unit=unit[0],
            left_out=max(0, len(curves) - MOST_CURVES),
            banded=[curve.name for curve in curves[:MOST_CURVES] if curve.band],
        )
    ]


def _banded(one, cells):
    """Whose band is drawn: all of few, else who leads on the most ranks, and layer-wise."""
    if len(one.strategies) <= MOST_BANDS:
        return tuple(one.strategies)
    leader = fields.verdict(cells[max(cells)].times).leaders[0]
    layerwise = [name for name, strategy in one.strategies.items() if strategy == fields.LAYERWISE]
    return (leader, *layerwise[:1])


def _curve(one, name, cells, marks, errors):
    letter, colour = marks[name]
    points = tuple((r, c.times[name]) for r, c in cells.items() if name in c.times)
    around = errors.of(one.strategies[name]).around if errors else None
    band = tuple((r, *around(ns)) for r, ns in points) if around else ()
    return scaling.Curve(name, letter, colour, points, band)


def _maps(one, compressor, marks):
    cells = [cell for _, _, cell in one.of(compressor)]
    names = [name for name in one.strategies if any(name in cell.times for cell in cells)]
    several = len(names) > 1
    return MapsView(
        title=_named(compressor, one),
        legend=[(marks[n][0], f"w{marks[n][1] % canvas.SERIES}", n) for n in names],
        winners=maps.winners(one, compressor, marks) if several else None,
        merging=_some(maps.merging(one, compressor)),
        gaps=_some(maps.gaps(one, compressor)),
        behind=[(n, maps.behind(one, compressor, n)) for n in names] if several else [],
    )


def _some(one):
    """The map, or None when it has no square."""
    return one if any(square for _, squares in one.rows for square in squares) else None
