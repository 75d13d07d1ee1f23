# SPDX-License-Identifier: Apache-2.0
"""What compressing costs and saves: compressors against each other; defined in README.md."""

from dataclasses import dataclass

from mergewise_report import metrics
from mergewise_report.units import DASH, duration, join_words, number, percent, plural, size

DENSE = "none"
ALONE = "wfbp"  # layer-wise: every tensor by itself
_NBSP = "\u00a0"


@dataclass(frozen=True)
class Bar:
    """The median iteration of a strategy with a compressor."""

    strategy: str
    case: object


@dataclass(frozen=True)
class Cluster:
    """The bars of one compressor."""

    compressor: str
    bars: tuple


@dataclass(frozen=True)
class Field:
    """The compressors of one (workload, ranks), dense gradients first where they were run."""

    title: str
    ranks: int | None
    cases: dict  # compressor -> its cases in the order of the file

    @property
    def strategies(self):
        """Those that were timed with more than dense gradients, layer-wise first."""
        names = dict.fromkeys(
            c.strategy for own in self.cases.values() for c in own if c.compression and metrics.is_timed(c)
        )
        return sorted(names, key=lambda name: name != ALONE)

    @property
    def clusters(self):
        shown = self.strategies
        found = []
        for compressor, cases in self.cases.items():
            timed = {c.strategy: c for c in cases if metrics.is_timed(c)}
            bars = tuple(Bar(name, timed[name]) for name in shown if name in timed)
            if bars:
                found.append(Cluster(compressor, bars))
        return found


def fields(result):
    """A field for each (workload, ranks) that was run with more than one compressor."""
    found = {}
    for cases in metrics.settings(result) if not result.simulated else []:
        first = cases[0]
        work = first.workload
        key = (work.name, work.batch, work.times, work.times_from, first.ranks)
        found.setdefault(key, {})[first.compressor] = cases
    made = []
    for (name, *_, ranks), cases in found.items():
        if len(cases) < 2:
            continue
        ordered = dict(sorted(cases.items(), key=lambda item: item[0] != DENSE))
        title = name + (", " + plural(ranks, "rank") if ranks is not None else "")
        made.append(Field(title, ranks, ordered))
    return made


def break_even(compression):
    """Gbit/s of the bus below which compressing pays: 8 (bytes saved) / (compress + decompress).

    None: never, since no bytes are saved, or unknown. Infinite where compressing takes no time.
    """
    saved = saved_bytes(compression)
    spent = spent_ns(compression)
    if saved is None or spent is None or saved <= 0:
        return None
    return 8 * saved / spent if spent > 0 else float("inf")


def saved_bytes(compression):
    """What a rank passes on less in an iteration, gathered copies counted."""
    if None in (compression.dense_sent_bytes, compression.planned_sent_bytes):
        return None
    return compression.dense_sent_bytes - compression.planned_sent_bytes


def spent_ns(compression):
    """Compressing and decompressing all groups of the plan, by the calibrated costs."""
    parts = (compression.planned_compress_ns, compression.planned_decompress_ns)
    return None if None in parts else sum(parts)


def most_ranks(compression, gathered):
    """The number of ranks at which gathered copies are as many bytes as a dense all-reduce: 2 D / W."""
    if not gathered or not compression.planned_bytes or compression.dense_bytes is None:
        return None
    return 2 * compression.dense_bytes / compression.planned_bytes


def merged_best(cases):
    """The fastest timed case that merges, or None."""
    timed = [c for c in cases if metrics.is_timed(c) and c.strategy != ALONE]
    return min(timed, key=lambda c: c.summary.median_ns, default=None)


def alone(cases):
    return next((c for c in cases if c.strategy == ALONE and metrics.is_timed(c)), None)


def lead(field):
    """What won, and what merging is worth to compressors."""
    timed = [(c.summary.median_ns, name, c) for name, own in field.cases.items() for c in own if metrics.is_timed(c)]
    if not timed:
        return "No case was measured.", ""
    best, name, case = min(timed, key=lambda entry: entry[0])
    text = f"Fastest: {_worded(name)}, {case.strategy}, {duration(best)}"
    dense = min((t for t, n, _ in timed if n == DENSE), default=None)
    if dense is not None and dense > best:
        text += f"; the best with dense gradients takes {percent(dense / best - 1)} longer"
    return text + ".", _merging(field)


def _merging(field):
    """Which compressor gains most by merging, and which least."""
    gains = [
        (gain, name)
        for name, cases in field.cases.items()
        if name != DENSE and (gain := merging_gain(cases)) is not None
    ]
    if not gains:
        return ""
    (most, first), (least, last) = max(gains), min(gains)
    text = f"Layer by layer, {first} takes {_longer(most)} its best merging"
    if len(gains) > 1:
        text += f", the most of all compressors; {last} {_longer(least)} its own, the least"
    return text + "."


def _longer(gain):
    return f"{percent(abs(gain))} {'longer' if gain >= 0 else 'less'} than"


def merging_gain(cases):
    """Layer-wise / best merged - 1, or None where one of them was not timed."""
    layer_wise, merged = alone(cases), merged_best(cases)
    if layer_wise is None or merged is None:
        return None
    return layer_wise.summary.median_ns / merged.summary.median_ns - 1


def _worded(name):
    return "dense gradients" if name == DENSE else name


def _shown(field):
    """What the tables have a row of: (compressor, case, its compression), layer-wise and the fastest merged plan."""
    for name, cases in field.cases.items():
        for case in filter(None, (alone(cases), merged_best(cases))):
            if case.compression is not None:
                yield name, case, case.compression


@dataclass(frozen=True)
class CostRow:
    compressor: str
    strategy: str
    spent: str
    saved: str
    even: str
    most_ranks: str
    error: str
    worst: str


def cost_rows(field):
    """Compression against bytes, of the layer-wise plan and of the fastest merged one."""
    rows = []
    for name, case, found in _shown(field):
        gathered = bool(case.plan) and "all_gather" in case.plan.collectives
        most = most_ranks(found, gathered)
        rows.append(
            CostRow(
                compressor=name,
                strategy=case.strategy,
                spent=duration(spent_ns(found)),
                saved=_saved(found),
                even=_even(found),
                most_ranks=DASH if most is None else number(most, 3, 0),
                error=_error(found.error),
                worst=_error(found.worst_error),
            )
        )
    return rows


def _error(share):
    return DASH if share is None else f"{share:.2g}"


def _saved(found):
    saved = saved_bytes(found)
    if saved is None:
        return DASH
    return size(saved) if saved > 0 else "none"


def _even(found):
    even = break_even(found)
    if even is None:
        return DASH if saved_bytes(found) is None or spent_ns(found) is None else "never"
    return "any" if even == float("inf") else number(even) + _NBSP + "Gb/s"


@dataclass(frozen=True)
class WireRow:
    compressor: str
    strategy: str
    groups: str
    planned: str
    real: str
    planned_sent: str
    sent: str
    of_dense: str
    memory: str
    odd: str


def wire_rows(field):
    """Bytes of a rank and an iteration: theory and reality, messages and all that passes by."""
    rows = []
    for name, case, found in _shown(field):
        share = metrics.ratio(found.sent_bytes or found.planned_sent_bytes, found.dense_sent_bytes)
        odd = [(found.nans, "NaN"), (found.infinities, "infinite")]
        rows.append(
            WireRow(
                compressor=name,
                strategy=case.strategy,
                groups=DASH if case.plan is None else f"{len(case.plan.groups):,}",
                planned=size(found.planned_bytes),
                real=size(found.message_bytes),
                planned_sent=size(found.planned_sent_bytes),
                sent=size(found.sent_bytes),
                of_dense=percent(share),
                memory=size(found.memory_bytes),
                odd=join_words(f"{count:,} {what}" for count, what in odd if count) or "none",
            )
        )
    return rows
