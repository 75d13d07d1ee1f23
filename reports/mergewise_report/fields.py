# SPDX-License-Identifier: Apache-2.0
"""Simulated cases laid out over networks and ranks, and who leads where: pure functions.

A field is one network to train on one accelerator; its axes are clusters or bandwidths, and ranks.
"""

from dataclasses import dataclass, field
from statistics import median

from mergewise_report.metrics import BOUND, SAME, differs, display_names, facts, ratio
from mergewise_report.units import NBSP, plural

LAYERWISE = "wfbp"
# Neither of them merges: one sends each tensor alone, the other cuts tensors up.
NOT_MERGING = (LAYERWISE, "bytescheduler")
DENSE = "none"


@dataclass(frozen=True)
class Network:
    """One row of a map."""

    cluster: str
    gbps: float | None

    @property
    def rate(self):
        return f"{self.gbps:g}{NBSP}Gb/s" if self.gbps else ""


@dataclass(frozen=True)
class Cell:
    """The predicted times of the strategies on one network with one number of ranks."""

    times: dict  # display name -> ns, without the bound; in the order of the file
    optimal_ns: float | None
    alone_ns: float | None


@dataclass(frozen=True)
class Field:
    title: str
    where: str  # the cluster; "" where the clusters are the rows
    facts: tuple[str, ...]
    networks: tuple[Network, ...]  # slowest first
    ranks: tuple[int, ...]
    compressors: tuple[str, ...]  # dense first
    strategies: dict  # display name -> strategy, in the order of the file
    cells: dict = field(repr=False)  # (compressor, network, ranks) -> Cell

    def of(self, compressor):
        """(network, ranks, cell) of a compressor, slowest network and fewest ranks first."""
        for network in self.networks:
            for ranks in self.ranks:
                cell = self.cells.get((compressor, network, ranks))
                if cell is not None and cell.times:
                    yield network, ranks, cell

    def place(self, network, ranks):
        """A cell's place in words."""
        where = network.rate if self.where or not network.cluster else network.cluster
        text = plural(ranks, "rank")
        return f"{where}, {text}" if where and len(self.networks) > 1 else text


def fields(result):
    """The fields of a simulated result, in the order of the file."""
    found = {}
    for case in result.cases:
        if case.status not in ("ok", "partial") or case.predicted_ns is None or not case.ranks:
            continue
        work = case.workload
        key = (work.name, work.batch, work.times, work.times_from, case.accelerator)
        found.setdefault(key, []).append(case)
    return [made for cases in found.values() for made in _by_cluster(cases)]


def _by_cluster(cases):
    """A field for each cluster with several bandwidths; the other clusters are rows of one."""
    rates = {}
    for case in cases:
        rates.setdefault(case.cluster, set()).add(case.gbps)
    swept = [cluster for cluster, found in rates.items() if len(found) > 1]
    for cluster in swept:
        yield _field([c for c in cases if c.cluster == cluster], cluster)
    rest = [c for c in cases if c.cluster not in swept]
    if rest:
        yield _field(rest, rest[0].cluster if len(rates) - len(swept) == 1 else "")


def _field(cases, where):
    first = cases[0]
    groups = {}
    for case in cases:
        key = (case.compressor, Network(case.cluster, case.gbps), case.ranks)
        groups.setdefault(key, []).append(case)
    strategies, cells = {}, {}
    for key, found in groups.items():
        names = display_names(found)
        cells[key] = _cell(found, names)
        strategies.update({n: c.strategy for n, c in zip(names, found) if c.strategy != BOUND})
    networks = {network: None for _, network, _ in groups}
    compressors = list(dict.fromkeys(compressor for compressor, _, _ in groups))
    return Field(
        title=_title(first),
        where=where,
        facts=facts(first),
        networks=tuple(sorted(networks, key=lambda n: n.gbps or 0.0)),
        ranks=tuple(sorted({ranks for _, _, ranks in groups})),
        compressors=tuple(sorted(compressors, key=lambda c: c != DENSE)),
        strategies=strategies,
        cells=cells,
    )


def _cell(cases, names):
    times = {n: c.predicted_ns for n, c in zip(names, cases) if c.strategy != BOUND}
    bounds = [c.predicted_ns for c in cases if c.strategy == BOUND]
    bounds += [c.optimal_ns for c in cases if c.optimal_ns is not None]
    alone = [c.compute_alone_ns for c in cases if c.compute_alone_ns is not None]
    return Cell(times, min(bounds, default=None), min(alone, default=None))


def _title(case):
    return case.workload.name + (f" on {case.accelerator}" if case.accelerator else "")


@dataclass(frozen=True)
class Verdict:
    """Who leads a cell."""

    leaders: tuple[str, ...]  # all within SAME of the fastest, in the order of the file
    best_ns: float
    runner_up: str  # the fastest that does not lead; "" where all lead
    lead: float | None  # runner-up / best - 1


def verdict(times):
    best = min(times.values())
    leaders = tuple(n for n, t in times.items() if not differs(t, best))
    rest = [(t, n) for n, t in times.items() if n not in leaders]
    if not rest:
        return Verdict(leaders, best, "", None)
    time, runner_up = min(rest)
    return Verdict(leaders, best, runner_up, ratio(time - best, best))


def layerwise(one, cell):
    """The cell's layer-wise time, or None."""
    times = [t for n, t in cell.times.items() if one.strategies[n] == LAYERWISE]
    return min(times, default=None)


def gain_of_merging(one, cell):
    """Layer-wise / best merging - 1: by how much longer it takes not to merge; None if unknown."""
    merging = [t for n, t in cell.times.items() if one.strategies[n] not in NOT_MERGING]
    base = layerwise(one, cell)
    return None if base is None or not merging else ratio(base - min(merging), min(merging))


def gap_of_best(cell):
    """Best / bound - 1; below 0 where the best reaches into the next forward pass."""
    best = min(cell.times.values())
    return None if cell.optimal_ns is None else ratio(best - cell.optimal_ns, cell.optimal_ns)


def gain_of_compressing(one, network, ranks):
    """(best dense / best compressed - 1, the best compressor), or None where one is missing."""
    best = {}
    for compressor in one.compressors:
        cell = one.cells.get((compressor, network, ranks))
        if cell is not None and cell.times:
            best[compressor] = min(cell.times.values())
    dense = best.pop(DENSE, None)
    if dense is None or not best:
        return None
    compressor = min(best, key=best.get)
    return ratio(dense - best[compressor], best[compressor]), compressor


@dataclass(frozen=True)
class Extreme:
    """The largest of a quantity over cells, and where."""

    value: float
    place: str


@dataclass(frozen=True)
class Standing:
    """How one strategy does over all cells of a field and a compressor."""

    name: str
    cells: int
    alone: int  # leads by SAME or more
    shared: int  # leads together with others
    largest_lead: Extreme | None  # over the runner-up, where it leads alone
    largest_gain: Extreme | None  # layer-wise / its time - 1, where positive by SAME
    losses: int  # cells in which it is slower than layer-wise by SAME
    largest_loss: Extreme | None
    behind: float  # median of its time / best - 1
    furthest: Extreme | None


def standings(one, compressor):
    """A Standing for each strategy; those that lead in most cells first."""
    cells = [(one.place(n, r), cell, verdict(cell.times)) for n, r, cell in one.of(compressor)]
    found = [_standing(one, name, cells) for name in one.strategies]
    found = [standing for standing in found if standing.cells]
    return sorted(found, key=lambda s: (-s.alone - s.shared, -s.alone, s.behind))


def _standing(one, name, cells):
    leads, gains, losses, behind = [], [], [], []
    alone = shared = 0
    for place, cell, judged in cells:
        time = cell.times.get(name)
        if time is None:
            continue
        behind.append(Extreme(time / judged.best_ns - 1, place))
        if name in judged.leaders:
            alone += len(judged.leaders) == 1
            shared += len(judged.leaders) > 1
            if len(judged.leaders) == 1 and judged.lead is not None:
                leads.append(Extreme(judged.lead, place))
        base = layerwise(one, cell)
        if base is not None and differs(time, base):
            by = Extreme(max(base, time) / min(base, time) - 1, place)
            (losses if time > base else gains).append(by)
    largest = _largest(behind)
    return Standing(
        name=name,
        cells=len(behind),
        alone=alone,
        shared=shared,
        largest_lead=_largest(leads),
        largest_gain=_largest(gains),
        losses=len(losses),
        largest_loss=_largest(losses),
        behind=median(e.value for e in behind) if behind else 0.0,
        furthest=largest if largest and largest.value >= SAME else None,
    )


def _largest(extremes):
    return max(extremes, key=lambda e: e.value, default=None)


def letters(names):
    """One letter or digit for each name, the same all over a page: the first of its own left."""
    taken = {}
    for name in names:
        wanted = [c for c in name.upper() if c.isascii() and c.isalnum()]
        free = [c for c in wanted + list("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") if c not in taken]
        letter = free[0] if free else f"#{len(taken)}"
        taken[letter] = name
    return {name: letter for letter, name in taken.items()}
