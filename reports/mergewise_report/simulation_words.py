# SPDX-License-Identifier: Apache-2.0
"""What simulated numbers say, as sentences and table rows. Plain text, escaped by the page."""

from dataclasses import dataclass

from mergewise_report import fields
from mergewise_report.prediction_error import FEWEST_FOR_QUANTILES
from mergewise_report.units import DASH, join_words, number, percent, plural, shorten


def origin(result, found):
    """(what, where from) of the model times: layer times, networks, collectives."""
    cases = result.cases
    facts = []
    times = dict.fromkeys(c.workload.times_from for c in cases if c.workload.times_from)
    if times:
        of_each = len(times) > 2
        facts.append(("layer times", "said below with each network" if of_each else _listed(times)))
    accelerators = dict.fromkeys(c.accelerator for c in cases if c.accelerator)
    if accelerators:
        facts.append(("accelerators" if len(accelerators) > 1 else "accelerator", _listed(accelerators)))
    clusters = dict.fromkeys(c.cluster for c in cases if c.cluster)
    if clusters:
        facts.append(("clusters" if len(clusters) > 1 else "cluster", _listed(clusters)))
    rates = sorted({c.gbps for c in cases if c.gbps})
    if rates:
        facts.append(("network", _range(rates) + " Gb/s"))
    ranks = sorted({r for one in found for r in one.ranks})
    if ranks:
        facts.append(("ranks", _range(ranks)))
    facts.append(("collectives", "cost what docs/simulation.md says: the cluster's formulas, or published lines"))
    return facts


def _listed(names, most=6):
    names = [shorten(name, 100) for name in names]
    rest = [f"{len(names) - most} more"] if len(names) > most else []
    return join_words(names[:most] + rest)


def _range(values):
    few = ", ".join(f"{v:g}" for v in values)
    return few if len(values) <= 4 else f"{values[0]:g} to {values[-1]:g}"


def band(errors):
    """How far the curves may be from a measurement; said also where nobody knows."""
    if errors is None:
        return (
            "How far these predictions are from a measurement is not known: "
            "give measured results with --measured to have bands drawn."
        )
    bands = [errors.over_all, *errors.by_strategy.values()]
    over_all = errors.over_all
    quantiles = all(b.count >= FEWEST_FOR_QUANTILES for b in bands)
    text = (
        "The prediction errors of "
        f"{plural(over_all.count, 'measured case')} carried over, "
        f"{'the 10 % to 90 % quantiles' if quantiles else 'quantiles, or least to largest of few'}; "
        f"over all, predicted / measured − 1 lies between {percent(over_all.low, True)} "
        f"and {percent(over_all.high, True)}."
    )
    if errors.by_strategy:
        text += f" Those of {join_words(sorted(errors.by_strategy))} are their own."
    text += " A band beside its line: predictions were all too short, or all too long."
    if errors.ranks:
        text += f" Measured on {_range(errors.ranks)} ranks; beyond, the band is a guess."
    if errors.machine_bound:
        text += f" {plural(errors.machine_bound, 'machine-bound case')} left out."
    if errors.emulated:
        how = "All" if errors.emulated == over_all.count else f"{errors.emulated:,}"
        text += f" {how} ran over an emulated link: the error of the model against itself."
    return text


def outcome(one, errors=None):
    """(lead, rest) of a field: who leads, what merging and compressing are worth, and where."""
    compressor = one.compressors[0]
    cells = list(one.of(compressor))
    ranked = fields.standings(one, compressor)
    if not cells or not ranked:
        return "No strategy was predicted.", ""
    rest = [*_alone(ranked, cells), *_merging(one, cells), *_bound(one, cells)]
    rest += [*_compressing(one), *_within_error(one, cells, errors)]
    return _lead(ranked, cells, compressor), " ".join(rest)


def _lead(ranked, cells, compressor):
    best = ranked[0]
    beside = f" with {compressor}" if compressor != fields.DENSE else ""
    if len(ranked) == 1:
        return f"Only {best.name} was simulated{beside}."
    often = best.alone + best.shared
    equal = [s.name for s in ranked if s.alone + s.shared == often]
    every = "every" if often == len(cells) else f"{often} of {len(cells):,}"
    what = "case" if every == "every" else "cases"
    if len(equal) > 3:
        return f"{join_words(equal[:3])} and {len(equal) - 3} more lead{beside} in {every} {what}."
    verb = "leads" if len(equal) == 1 else "lead"
    alone = "" if best.alone == often else ", alone or together with others"
    return f"{join_words(equal)} {verb}{beside} in {every} {what}{alone}."


def _alone(ranked, cells):
    alone = [s for s in ranked if s.alone]
    if not alone:
        return ["Nowhere does one strategy lead by 1 %."]
    best = max(alone, key=lambda s: s.largest_lead.value if s.largest_lead else 0)
    text = join_words(f"{s.name} {s.alone}" for s in alone)
    text = f"Leads of 1 % or more over all others: {text} of {len(cells):,} cases"
    if best.largest_lead:
        lead = best.largest_lead
        text += f"; the largest is {best.name}'s {percent(lead.value)} ({lead.place})"
    return [text + "."]


def _merging(one, cells):
    gains = [(fields.gain_of_merging(one, cell), one.place(n, r)) for n, r, cell in cells]
    gains = [(gain, place) for gain, place in gains if gain is not None]
    if not gains:
        return []
    same = sum(not _differs(gain) for gain, _ in gains)
    lost = [(gain, place) for gain, place in gains if gain < 0 and _differs(gain)]
    best, where = max(gains)
    if not _differs(best) or best < 0:
        text = "Merging gains nothing over sending layer by layer"
    else:
        text = f"Sending layer by layer takes up to {_more(best)} longer than merging ({where})"
        if same:
            text += f"; in {plural(same, 'case')} it makes no difference"
    if lost:
        worst, place = min(lost)
        text += (
            f"; in {plural(len(lost), 'case')} every merging strategy loses, "
            f"by up to {percent(1 / (1 + worst) - 1)} ({place})"
        )
    return [text + "."]


def _differs(gain):
    return fields.differs(1 + gain, 1.0)


def _more(share):
    return percent(share) if share < 9.995 else f"{number(share, 2, 0)} times"


def _bound(one, cells):
    gaps = [(fields.gap_of_best(cell), one.place(n, r)) for n, r, cell in cells]
    gaps = [(gap, place) for gap, place in gaps if gap is not None]
    if not gaps:
        return []
    worst, where = max(gaps)
    least, place = min(gaps)
    text = (
        f"The leader is at most {percent(worst)} above the optimum ({where})"
        if worst >= fields.SAME
        else "The leader is nowhere 1 % above the optimum"
    )
    if least <= -fields.SAME:
        text += (
            f"; it is up to {percent(-least)} below it ({place}), "
            "where it reaches into the next forward pass"
        )
    return [text + "."]


def _compressing(one):
    found = []
    for network in one.networks:
        for ranks in one.ranks:
            gain = fields.gain_of_compressing(one, network, ranks)
            if gain is not None:
                found.append((gain[0], one.place(network, ranks), gain[1]))
    if not found:
        return []
    won = sum(gain > 0 and _differs(gain) for gain, *_ in found)
    lost = sum(gain < 0 and _differs(gain) for gain, *_ in found)
    best, where, compressor = max(found)
    text = f"Compressing gains in {won} of {plural(len(found), 'case')} and loses in {lost}"
    if won:
        text += f"; it gains most with {compressor}: {_more(best)} ({where})"
    return [text + "."]


def _within_error(one, cells, errors):
    """Leads that a wrong prediction could turn round."""
    if errors is None:
        return []
    doubtful = leads = 0
    for _, _, cell in cells:
        judged = fields.verdict(cell.times)
        if len(judged.leaders) != 1 or not judged.runner_up:
            continue
        leads += 1
        _, slowest = errors.of(one.strategies[judged.leaders[0]]).around(judged.best_ns)
        runner = cell.times[judged.runner_up]
        fastest, _ = errors.of(one.strategies[judged.runner_up]).around(runner)
        doubtful += slowest > fastest
    if not leads:
        return []
    if not doubtful:
        return [f"None of {plural(leads, 'lead')} is smaller than the error of prediction."]
    return [
        f"Of {plural(leads, 'lead')}, {doubtful} {'is' if doubtful == 1 else 'are'} smaller than "
        "the error of prediction and may turn out the other way."
    ]


def error_rows(errors, strategies):
    """(strategies, least, largest, from how many cases, of what) of the bands carried over."""
    if errors is None:
        return []
    own = [(name, errors.of(name), "its own") for name in strategies if name in errors.by_strategy]
    rest = "all strategies" if not own else "all others"
    if len(own) < len(strategies):
        own.append((rest, errors.over_all, "all strategies together"))
    return [
        (name, percent(b.low, True), percent(b.high, True), f"{b.count:,}", whose)
        for name, b, whose in own
    ]


def skipped(result, most=12):
    """(how many cases, of whom, why) of the cases without a time, by reason; the most first."""
    found = {}
    for case in result.cases:
        if case.status not in ("ok", "partial"):
            found.setdefault(case.reason or "no reason given", []).append(case.strategy)
    ranked = sorted(found.items(), key=lambda item: -len(item[1]))
    rows = [
        (plural(len(whose), "case"), join_words(dict.fromkeys(whose)), why)
        for why, whose in ranked[:most]
    ]
    rest = sum(len(whose) for _, whose in ranked[most:])
    if rest:
        rows.append((plural(rest, "case"), "others", "for other reasons"))
    return rows


@dataclass(frozen=True)
class StandingRow:
    letter: str
    colour: int
    name: str
    alone: str
    shared: str
    lead: str
    gain: str
    losses: str
    loss: str
    behind: str
    furthest: str


def standings(one, compressor, marks):
    return [
        StandingRow(
            letter=marks[s.name][0],
            colour=marks[s.name][1],
            name=s.name,
            alone=f"{s.alone:,}",
            shared=f"{s.shared:,}",
            lead=_extreme(s.largest_lead),
            gain=_extreme(s.largest_gain),
            losses=f"{s.losses:,}",
            loss=_extreme(s.largest_loss),
            behind=percent(s.behind) if s.behind >= fields.SAME else "under 1\u00a0%",
            furthest=_extreme(s.furthest),
        )
        for s in fields.standings(one, compressor)
    ]


def _extreme(extreme):
    if extreme is None:
        return DASH
    return _more(extreme.value) + (f" ({extreme.place})" if extreme.place else "")
