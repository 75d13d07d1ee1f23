# SPDX-License-Identifier: Apache-2.0
"""Sections, rankings and derived numbers: pure functions of a result; defined in README.md.

Medians and intervals come from the result file; they are recomputed only to check the file.
"""

from dataclasses import dataclass, field
from statistics import median

from mergewise_report.results import Case
from mergewise_report.units import binary_size, duration, plural, size

# With fewer samples even [min, max] is no 90 % interval of the median (1 - 2 * 0.5^4 = 87.5 %).
FEWEST_FOR_AN_INTERVAL = 5
PREDICTION_BAND = 0.10
SAME = 0.01  # predicted times that differ by less than this share are no different
BOUND = "optimal"  # in simulations the least time of the model: a bound, not a contestant
_TOLERANCE = 0.001


@dataclass(frozen=True)
class Row:
    """A case within its section: its display name, its place and how it compares."""

    case: Case
    name: str
    place: int | None = None  # among the timed cases, from 1
    shared: bool = False  # the place is shared with a neighbour that it cannot be told from
    standing: str = "unranked"  # fastest | tied | slower | unclear | unranked | bound
    longer: float | None = None  # time / the fastest's - 1
    same_plan_as: str | None = None


@dataclass(frozen=True)
class Section:
    """The cases of one (workload, ranks, compressor), ranked."""

    title: str
    facts: tuple[str, ...]
    rows: tuple[Row, ...]
    timed: tuple[Row, ...] = field(default=())  # those with a place, fastest first
    simulated: bool = False


def is_timed(case):
    """Only verified cases with a median have a timing; a failed one never does."""
    return (
        case.status in ("ok", "partial")
        and case.verified
        and case.summary is not None
        and case.summary.median_ns is not None
    )


def time_of(case, simulated=False):
    """What a case is ranked by: its median, or without ranks its prediction."""
    if simulated:
        return case.predicted_ns if case.status in ("ok", "partial") else None
    return case.summary.median_ns if is_timed(case) else None


def has_interval(summary):
    return (
        summary is not None
        and None not in (summary.low_ns, summary.high_ns)
        and (summary.count or 0) >= FEWEST_FOR_AN_INTERVAL
    )


def differs(a, b):
    """Whether two predicted times differ by enough to be called different."""
    return a != b and not (min(a, b) > 0 and max(a, b) / min(a, b) - 1 < SAME)


def compare(a: Case, b: Case):
    """`same` when the intervals of the medians overlap, `different` when not, else `unclear`."""
    if not (has_interval(a.summary) and has_interval(b.summary)):
        return "unclear"
    apart = a.summary.low_ns > b.summary.high_ns or b.summary.low_ns > a.summary.high_ns
    return "different" if apart else "same"


def ratio(numerator, denominator):
    """The quotient, or None where it is not defined."""
    if numerator is None or not denominator:
        return None
    return numerator / denominator


def hidden_share(case):
    """hidden / busy: the share of communication time that ran beside compute."""
    return ratio(case.breakdown.hidden_ns, case.breakdown.busy_ns) if case.breakdown else None


def communication_share(case):
    """Cost of communication / median iteration."""
    return ratio(case.communication_cost_ns, case.summary.median_ns if case.summary else None)


@dataclass(frozen=True)
class Parts:
    """An iteration's median, split for the bars; the parts sum to it."""

    compute_ns: float
    tax_ns: float
    exposed_ns: float
    known: bool  # False: nothing to split by, all of it is in exposed_ns


def parts(case):
    """compute alone + tax + what is left of the cost of communication = median."""
    total = case.summary.median_ns
    if case.compute_alone_ns is None:
        return Parts(0.0, 0.0, total, False)
    compute = min(case.compute_alone_ns, total)
    tax = min(max(case.tax_ns or 0.0, 0.0), total - compute)
    return Parts(compute, tax, total - compute - tax, True)


def settings(result):
    """The result's cases by (workload, ranks, compressor), in the order of the file."""
    found = {}
    for case in result.cases:
        work = case.workload
        key = (work.name, work.batch, work.times, work.times_from, case.ranks, case.compressor)
        key += (case.accelerator, case.cluster, case.gbps)
        found.setdefault(key, []).append(case)
    return list(found.values())


def sections(result):
    """A section for each of settings()."""
    return [section(cases, result.simulated) for cases in settings(result)]


def section(cases, simulated):
    first = cases[0]
    title = first.workload.name
    if simulated and first.accelerator:
        title += f" on {first.accelerator}"
    if simulated and first.cluster:
        title += ", " + first.cluster
    if first.ranks is not None:
        title += ", " + plural(first.ranks, "rank")
    if first.compressor != "none":
        title += ", " + first.compressor
    names = display_names(cases)
    timed = [(c, n) for c, n in zip(cases, names) if time_of(c, simulated) is not None]
    timed.sort(key=lambda pair: time_of(pair[0], simulated))
    bounds = [pair for pair in timed if simulated and pair[0].strategy == BOUND]
    if len(bounds) < len(timed):
        timed = [pair for pair in timed if pair not in bounds]
    else:
        bounds = []  # with nothing to bound, it is a strategy like any other
    rest = [(c, n) for c, n in zip(cases, names) if time_of(c, simulated) is None]
    rest.sort(key=lambda pair: ("ok", "partial", "failed", "skipped").index(pair[0].status))
    ranked = tuple(_ranked(timed, simulated))
    unranked = tuple(Row(case, name) for case, name in rest)
    bound = tuple(_bound(case, name, timed[0][0]) for case, name in bounds)
    return Section(title, facts(first), bound + ranked + unranked, ranked, simulated)


def _bound(case, name, fastest):
    best = fastest.predicted_ns
    return Row(case, name, standing="bound", longer=ratio(case.predicted_ns - best, best))


def _ranked(timed, simulated):
    """Rows in order of their time. Who cannot be told from the first of a place shares it."""
    fastest = timed[0][0] if timed else None
    places, leader = [], None
    for index, (case, _) in enumerate(timed):
        if leader is None or _verdict(timed[leader][0], case, simulated) != "same":
            leader = index
        places.append(leader + 1)
    seen = {}
    for index, (case, name) in enumerate(timed):
        verdict = _verdict(fastest, case, simulated)
        standing = {"same": "tied", "different": "slower", "unclear": "unclear"}[verdict]
        plan = case.plan.hash if case.plan else ""
        same = seen.setdefault(plan, name) if plan else name
        best = time_of(fastest, simulated)
        yield Row(
            case=case,
            name=name,
            place=places[index],
            shared=places.count(places[index]) > 1,
            standing="fastest" if index == 0 else standing,
            longer=ratio(time_of(case, simulated) - best, best),
            same_plan_as=None if same == name else same,
        )


def _verdict(a, b, simulated):
    if simulated:
        return "different" if differs(a.predicted_ns, b.predicted_ns) else "same"
    return compare(a, b)


def display_names(cases):
    """The strategies' ids, with options (and at last a number) where ids alone are ambiguous."""
    names = []
    for case in cases:
        name = case.strategy
        if sum(other.strategy == case.strategy for other in cases) > 1 and case.options:
            name += f" ({options_text(case.options)})"
        names.append(name)
    return [
        f"{name} #{names[: i + 1].count(name)}" if names.count(name) > 1 else name
        for i, name in enumerate(names)
    ]


def options_text(options):
    def value(key, given):
        if key.endswith("_bytes") and isinstance(given, (int, float)):
            return binary_size(given).replace("\u00a0", " ")
        return str(given).lower() if isinstance(given, bool) else str(given)

    return ", ".join(f"{key} {value(key, given)}" for key, given in options.items())


def facts(case):
    """What was trained, a text each."""
    work = case.workload
    found = []
    if work.batch:
        found.append(f"batch {work.batch:,}")
    if work.tensors:
        of_bytes = f" of {size(work.bytes)}" if work.bytes else ""
        found.append(plural(work.tensors, "gradient tensor") + of_bytes)
    if work.forward_ns is not None and work.backward_ns is not None:
        found.append(f"forward {duration(work.forward_ns)}, backward {duration(work.backward_ns)}")
    if work.times_from:
        found.append(f"layer times {work.times or 'from'}: {work.times_from}")
    return tuple(found)


def contradictions(case):
    """Where the file does not agree with itself: sentences, empty when it does."""
    found = []
    summary, split = case.summary, case.breakdown
    if is_timed(case) and case.samples_ns:
        recomputed = median(case.samples_ns)
        if _differ(recomputed, summary.median_ns, summary.median_ns):
            found.append("its median is not the median of its samples")
    if is_timed(case) and None not in (case.compute_alone_ns, case.communication_cost_ns):
        cost = summary.median_ns - case.compute_alone_ns
        if _differ(cost, case.communication_cost_ns, summary.median_ns):
            found.append("its cost of communication is not median - compute alone")
    if split and split.iteration_ns is not None and split.labels_ns:
        total = sum(v or 0.0 for v in split.labels_ns.values())
        if _differ(total, split.iteration_ns, split.iteration_ns):
            found.append("its labels do not sum to the iteration")
    if case.gap is not None and case.gap < -_TOLERANCE and case.within_optimal:
        found.append("its prediction is below the optimum, although it ends with the iteration")
    if case.plan and list(case.plan.groups) != sorted(set(case.plan.groups)):
        found.append("the group ends of its plan do not increase")
    return found


def _differ(a, b, scale):
    return abs(a - b) > _TOLERANCE * abs(scale) + 1.0
