# SPDX-License-Identifier: Apache-2.0
"""The page's tables and lists as ready texts: ranking, tiles, plans, fit, environment."""

import re
from dataclasses import dataclass

from mergewise_report import metrics, words
from mergewise_report.units import (
    DASH,
    between,
    binary_size,
    duration,
    in_unit,
    join_words,
    number,
    percent,
    plural,
    shorten,
    size,
    time_unit,
)


@dataclass(frozen=True)
class RankingRow:
    place: str
    name: str
    options: str
    notes: list
    standing: str
    groups: str
    median: str
    interval: str
    longer: str
    verdict: str
    cost: str
    hidden: str
    predicted: str
    error: str
    error_is_large: bool
    gap: str
    verified: str
    verified_ok: bool


def unit_of(section):
    """One unit for the section's tables: that of its fastest case."""
    times = [metrics.time_of(r.case, section.simulated) for r in section.timed]
    return time_unit(min(times, default=0))


def ranking(section, unit):
    common = _common_flags(section)
    return [_ranking_row(row, unit, common, section.simulated) for row in section.rows]


def _common_flags(section):
    """The emulated link is said once, by the banner, when it holds for every row."""
    every = all("link_emulated" in r.case.flags for r in section.rows)
    return {words.flag_words("link_emulated")} if every else set()


def _ranking_row(row, unit, common, simulated):
    case = row.case
    summary = case.summary if metrics.is_timed(case) else None
    known = metrics.has_interval(summary)
    error = case.prediction_error if summary else None
    shared = "=" if row.shared else ""
    return RankingRow(
        place=DASH if row.place is None else f"{shared}{row.place}",
        name=row.name,
        options=metrics.options_text(case.options) if "(" not in row.name else "",
        notes=[n for n in words.notes(row, simulated) if n not in common],
        standing=row.standing,
        groups=DASH if case.plan is None or not case.plan.groups else f"{len(case.plan.groups):,}",
        median=in_unit(summary.median_ns if summary else None, unit),
        interval=_interval(summary, unit) if known else DASH,
        longer=_longer(row),
        verdict={"tied": "no difference", "unclear": "cannot be told"}.get(row.standing, ""),
        cost=in_unit(_cost(case, summary, simulated), unit),
        hidden=percent(metrics.hidden_share(case) if summary else None),
        predicted=in_unit(case.predicted_ns, unit),
        error=percent(error, signed=True),
        error_is_large=error is not None and abs(error) > metrics.PREDICTION_BAND,
        gap=percent(case.gap, signed=True),
        verified="yes" if case.verified else ("no" if case.status == "failed" else DASH),
        verified_ok=case.verified or case.status != "failed",
    )


def _cost(case, summary, simulated):
    """What communication costs: as measured, or in a simulation as predicted."""
    if simulated and None not in (case.predicted_ns, case.compute_alone_ns):
        return case.predicted_ns - case.compute_alone_ns
    return case.communication_cost_ns if summary else None


def _interval(summary, unit):
    low, high = in_unit(summary.low_ns, unit), in_unit(summary.high_ns, unit)
    return f"{low} to {high}"


def _longer(row):
    if row.standing == "fastest":
        return "fastest"
    if row.standing == "bound":
        return "bound"
    return percent(row.longer, signed=True)


def tiles(section):
    """The section's four key figures: (value, what it is, remark)."""
    if not section.timed or section.simulated:
        return []
    best, last = section.timed[0], section.timed[-1]
    case = best.case
    confidence = case.summary.confidence
    interval = DASH
    if metrics.has_interval(case.summary):
        unit = time_unit(case.summary.median_ns)
        interval = between(case.summary.low_ns, case.summary.high_ns, 4, unit)
        if confidence:
            interval = f"{percent(confidence)} interval {interval}"
    tied = [r.name for r in section.timed if r.standing == "tied"]
    names = best.name if len(tied) > 2 else join_words([best.name] + tied)
    if len(tied) > 2:
        names += f" and {len(tied)} more"
    found = [(duration(case.summary.median_ns), f"an iteration, {names}", interval)]
    share = metrics.communication_share(case)
    found.append(
        (
            duration(case.communication_cost_ns),
            "cost of communication",
            DASH if share is None else f"{percent(share)} of the iteration",
        )
    )
    split = case.breakdown
    found.append(
        (
            percent(metrics.hidden_share(case)),
            "of communication hidden",
            f"{duration(split.hidden_ns)} of {duration(split.busy_ns)}" if split else DASH,
        )
    )
    if len(section.timed) > 1:
        remark = {"tied": "no difference that can be told", "unclear": "too few samples to tell"}
        time = duration(last.case.summary.median_ns)
        found.append((_longer(last), f"slowest, {last.name}", remark.get(last.standing, time)))
    return found


def probes(section):
    """(name, rows) of each strategy that searched; a row: groups, first ends, time, against best."""
    found = []
    for row in section.rows:
        times = [p.iteration_ns for p in row.case.probes if p.iteration_ns is not None]
        unit = time_unit(min(times, default=0))
        rows = [
            (
                plural(len(probe.ends), "group"),
                shorten(", ".join(f"{end}" for end in probe.ends), 60) or DASH,
                in_unit(probe.iteration_ns, unit),
                _above(probe.iteration_ns, min(times, default=None)),
            )
            for probe in row.case.probes
        ]
        if rows:
            found.append((row.name, unit[0], rows))
    return found


def _above(time, best):
    if time is None or not best:
        return DASH
    return "best" if time == best else percent(time / best - 1, signed=True)


def plans(section):
    """(name, groups, first group, largest group, hash) of every plan."""
    found = []
    for row in section.rows:
        plan = row.case.plan
        if plan is None:
            continue
        sizes = [b for b in plan.group_bytes if b is not None]
        found.append(
            (
                row.name,
                f"{len(plan.groups):,}",
                size(sizes[0]) if sizes else DASH,
                size(min(sizes)) if sizes else DASH,
                size(max(sizes)) if sizes else DASH,
                plan.hash or DASH,
            )
        )
    return found


_USED = {
    "line": "the fitted line",
    "segments": "several lines, one after the other",
    "points": "the points, interpolated",
    "nothing": "nothing of it",
}

_INSTEAD = {
    "line": "it all the same",
    "segments": "several lines",
    "points": "the points",
    "nothing": "other measurements",
}


def fit_facts(calibration):
    """(name, value, doubtful) pairs of a calibration's fit, and what to beware of."""
    fit = calibration.fit
    facts = [("measured", calibration.variant.replace("_", " ") or DASH)]
    repetitions = [p.repetitions for p in calibration.points if p.repetitions]
    count = plural(len(calibration.points), "size")
    if repetitions:
        low, high = min(repetitions), max(repetitions)
        count += f", {low if low == high else f'{low} to {high}'} times each"
    facts.append(("points", count))
    facts.append(("predictions use", _USED.get(calibration.used, DASH)))
    warnings = []
    if fit is None:
        return facts, ["No line was fitted."]
    facts += [
        ("start-up, a", duration(fit.a_ns)),
        ("per byte, b", DASH if fit.b_ns_per_byte is None else f"{number(fit.b_ns_per_byte)} ns/B"),
        (
            "rate that b implies",
            DASH if fit.gigabits_per_s is None else f"{number(fit.gigabits_per_s)} Gb/s",
        ),
        ("R²", DASH if fit.r_squared is None else f"{fit.r_squared:.4f}"),
        ("largest error of the line", percent(fit.largest_error)),
    ]
    if fit.negative_intercept:
        warnings.append(
            "The unclamped start-up time came out negative: a straight line does not describe "
            "this collective at small sizes."
        )
    if fit.largest_error is not None and fit.largest_error > 0.25:
        warnings.append(
            f"The line misses a point by {percent(fit.largest_error)}; predictions use "
            f"{_INSTEAD.get(calibration.used, DASH)}."
        )
    return facts, warnings


def given_costs(result):
    """(profile, collective, words) of collective costs that were given, not calibrated here."""
    measured = {(c.profile, c.collective) for c in result.calibrations}
    found = []
    for key, profile in result.profiles.items():
        if not isinstance(profile, dict):
            continue
        for collective in ("all_reduce", "all_gather", "reduce_scatter"):
            model = profile.get(collective)
            if isinstance(model, dict) and (key, collective) not in measured:
                found.append((key, collective.replace("_", "-"), _model_words(model)))
    return found


def _model_words(model):
    a, b = model.get("a_ns"), model.get("b_ns_per_byte")
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return f"{duration(a)} + {number(b)} ns/B"
    points = model.get("points")
    if isinstance(points, list):
        return f"interpolates {plural(len(points), 'point')}"
    return "given by the profile"


def moment(text):
    """An ISO time for people: 2026-11-14T09:12:44Z is 2026-11-14 09:12 UTC; others as they are."""
    found = re.fullmatch(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d(\.\d+)?)?(Z|\+00:00)", text)
    return f"{found[1]} {found[2]} UTC" if found else text


def flatten(value, prefix=""):
    """(key, text) pairs of a nested document, in its order; null is a dash."""
    if isinstance(value, dict) and value:
        pairs = []
        for key, item in value.items():
            pairs += flatten(item, f"{prefix}.{key}" if prefix else str(key))
        return pairs
    if isinstance(value, list):
        plain = all(not isinstance(v, (dict, list)) for v in value)
        text = (
            ", ".join(_plain(v) for v in value) if plain else plural(len(value), "entry", "entries")
        )
        return [(prefix, text or DASH)]
    key = prefix.rsplit(".", 1)[-1]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if key.endswith("_bytes"):
            return [(prefix.removesuffix("_bytes"), binary_size(value))]
        if key.endswith("_hz"):
            return [(prefix.removesuffix("_hz"), number(value / 1e9) + "\u00a0GHz")]
    return [(prefix, _plain(value))]


def _plain(value):
    if value is None or value == "" or value == {}:
        return DASH
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
