# SPDX-License-Identifier: Apache-2.0
"""Break-even maps of a field, as tables of squares: who wins, what merging and compressing gain."""

from dataclasses import dataclass

from mergewise_report import fields
from mergewise_report.figures.canvas import SERIES
from mergewise_report.units import duration, join_words, number, percent

_GAINS = (0.10, 0.30, 1.00)  # where the shades of a gain change
_LETTERS = 3  # more leaders than these are counted


@dataclass(frozen=True)
class Square:
    """A cell: `kind` is its class in report.css, `title` says all of it in words."""

    text: str
    remark: str
    kind: str
    title: str


@dataclass(frozen=True)
class Map:
    head: str  # what the rows are
    named: bool  # whether the rows have names, not numbers
    columns: tuple[str, ...]
    rows: tuple  # (name, squares), fastest network first, as an axis that points upwards


def make(one, square):
    """The map of square(network, ranks), which gives a Square or None."""
    named = one.where == "" and any(n.cluster for n in one.networks)
    rows = []
    for network in reversed(one.networks):
        name = network.cluster if named else f"{network.gbps or 0:g}"
        rows.append((name, tuple(square(network, ranks) for ranks in one.ranks)))
    return Map("cluster" if named else "Gb/s", named, tuple(str(r) for r in one.ranks), tuple(rows))


def winners(one, compressor, marks):
    """Who leads by at least 1 %, and by how much; `marks`: name -> (letter, colour)."""

    def square(network, ranks):
        cell = _cell(one, compressor, network, ranks)
        if cell is None:
            return None
        judged = fields.verdict(cell.times)
        return _winner(cell.times, judged, marks, _said(one, network, ranks, cell, judged))

    return make(one, square)


def _winner(times, judged, marks, title):
    first = f"w{marks[judged.leaders[0]][1] % SERIES}"
    found = [marks[name][0] for name in judged.leaders]
    others = [marks[name][0] for name in times if name not in judged.leaders]
    if not others and len(found) > 1:
        return Square("=", "", "same", title)
    if len(found) > _LETTERS and len(others) < _LETTERS:
        return Square("all but " + "".join(others), "", "same", title)
    if len(found) == 1:
        return Square(found[0], amount(judged.lead), first, title)
    more = f"+{len(found) - _LETTERS}" if len(found) > _LETTERS else ""
    return Square("".join(found[:_LETTERS]), more, first + " pale", title)


def merging(one, compressor):
    """By how much longer sending layer by layer takes than the best merging."""

    def square(network, ranks):
        cell = _cell(one, compressor, network, ranks)
        if cell is None:
            return None
        return _signed(
            fields.gain_of_merging(one, cell),
            one.place(network, ranks),
            "merging gains {}",
            "merging loses {}",
        )

    return make(one, square)


def gaps(one, compressor):
    """By how much longer the best strategy takes than the bound."""

    def square(network, ranks):
        cell = _cell(one, compressor, network, ranks)
        gap = None if cell is None else fields.gap_of_best(cell)
        if gap is None:
            return None
        place = one.place(network, ranks)
        if gap <= -fields.SAME:
            return Square(amount(gap), "", "below", f"{place}: {percent(-gap)} below the optimum")
        if gap < fields.SAME:
            return Square("=", "", "same", f"{place}: no difference from the optimum")
        return Square(amount(gap), "", f"far{_shade(gap)}", f"{place}: {percent(gap)} above the optimum")

    return make(one, square)


def behind(one, compressor, name):
    """By how much longer a strategy takes than the fastest."""

    def square(network, ranks):
        cell = _cell(one, compressor, network, ranks)
        if cell is None or name not in cell.times:
            return None
        best, place = min(cell.times.values()), one.place(network, ranks)
        if not fields.differs(cell.times[name], best):
            return Square("=", "", "same", f"{place}: {name} leads or shares the lead")
        by = cell.times[name] / best - 1
        title = f"{place}: {name} takes {percent(by)} longer than the fastest"
        return Square(amount(by), "", f"far{_shade(by)}", title)

    return make(one, square)


def compressing(one):
    """By how much longer the best dense case takes than the best compressed one."""

    def square(network, ranks):
        found = fields.gain_of_compressing(one, network, ranks)
        if found is None:
            return None
        gain, compressor = found
        return _signed(
            gain, one.place(network, ranks), compressor + " gains {}", compressor + " loses {}"
        )

    return make(one, square)


def _cell(one, compressor, network, ranks):
    cell = one.cells.get((compressor, network, ranks))
    return cell if cell is not None and cell.times else None


def _signed(gain, place, won, lost):
    """A gain is a ratio of times - 1; a loss is given the same way, the other time over ours."""
    if gain is None:
        return None
    by = gain if gain >= 0 else 1 / (1 + gain) - 1
    if by < fields.SAME:
        return Square("=", "", "same", f"{place}: no difference")
    if gain > 0:
        return Square(amount(by), "", f"gain{_shade(by)}", f"{place}: {won.format(percent(by))}")
    return Square(amount(-by), "", f"loss{_shade(by)}", f"{place}: {lost.format(percent(by))}")


def _shade(share):
    return sum(share >= limit for limit in _GAINS)


def amount(share):
    """A share in a square: whole per cent, or from ten-fold on the factor."""
    if share is None:
        return ""
    if share >= 9.995:
        return f"{number(1 + share, 2, 0)}×"
    return number(100 * share, 2, 0)


def _said(one, network, ranks, cell, judged):
    lead = f"{join_words(judged.leaders)} {duration(judged.best_ns)}"
    if judged.runner_up:
        lead += f", next {judged.runner_up} +{percent(judged.lead)}"
    base = fields.layerwise(one, cell)
    if base is not None and fields.differs(base, judged.best_ns):
        lead += f", layer by layer +{percent(base / judged.best_ns - 1)}"
    return f"{one.place(network, ranks)}: {lead}"
