# SPDX-License-Identifier: Apache-2.0
"""What the numbers say, as sentences: headlines, banners, flags. Plain text, escaped by the page."""

from dataclasses import dataclass

from mergewise_report import metrics
from mergewise_report.units import between, duration, join_words, number, percent, plural

FLAGS = {
    "link_emulated": "emulated link",
    "oversubscribed": "more threads than processors",
    "machine_bound": "machine-bound",
    "unstable": "warm-up never settled",
    "few_samples": "few samples",
}
ACTIVITIES = {
    "compute": "compute",
    "pack": "pack and compress",
    "update": "update",
    "transfer": "transfer",
    "wait": "wait for a rank",
    "idle": "idle",
}


@dataclass(frozen=True)
class Banner:
    kind: str  # caution | failure
    title: str
    text: str


def flag_words(flag):
    return FLAGS.get(flag, flag.replace("_", " "))


def notes(row, simulated=False):
    """Short remarks for a row of the table: its status and flags in words."""
    case = row.case
    found = []
    if case.status == "failed":
        found.append("failed verification")
    elif case.status == "skipped":
        found.append("skipped")
    elif case.status == "partial":
        count = len(case.samples_ns)
        found.append(f"stopped early after {plural(count, 'sample')}" if count else "not measured")
    elif not simulated and not case.verified and not metrics.is_timed(case):
        found.append("not verified, so no timing")
    for flag in case.flags:
        if flag != "few_samples" or not metrics.is_timed(case):
            found.append(flag_words(flag))
        elif case.status != "partial":
            found.append(f"only {plural(case.summary.count or 0, 'sample')}")
    found += _about_plan(case)
    if row.same_plan_as:
        found.append(f"same plan as {row.same_plan_as}")
    return found


def _about_plan(case):
    """What sets a plan apart from groups that are sent when they are ready."""
    found = []
    if not case.within_optimal:
        text = "reaches into the next forward pass"
        if case.gap is not None and case.gap < 0:
            text += f", {percent(-case.gap)} below the optimum of plans that do not"
        found.append(text)
    if case.strategy == "horovod":
        found.append("emulates a rule that decides at run time")
    if case.probes:
        found.append(f"tried {plural(len(case.probes), 'plan')}")
    return found


def headline(section):
    """(lead, rest): the section's outcome in a short sentence, then what qualifies it."""
    if not section.timed:
        if not section.rows:
            return "No case was measured.", ""
        return "No strategy has a timing here.", " ".join(_untimed(section))
    best = section.timed[0]
    tied = [r for r in section.timed if r.standing == "tied"]
    if section.simulated:
        lead = _simulated_lead(section, best, tied)
    else:
        lead = _measured_lead(section, best, tied)
    rest = [*_slower(section), *_hiding(best), *_unclear(section), *_untimed(section)]
    return lead, " ".join(rest)


def _measured_lead(section, best, tied):
    middle = best.case.summary.median_ns
    if len(section.timed) == 1:
        return f"{best.name} takes {duration(middle)}; there is nothing to compare it with."
    if tied:
        last = max(r.case.summary.median_ns for r in tied)
        span = between(middle, last)
        names = [best.name] + [r.name for r in tied]
        everything = len(names) == len(section.timed)
        if everything and len(names) > 2:
            return f"No difference that can be told: all strategies take {span}."
        return f"{join_words(names)} lead: {span}, no difference that can be told."
    if len(section.timed) > 1 and section.timed[1].standing == "unclear":
        return (
            f"{best.name} has the least median, {duration(middle)}, "
            "from too few samples to call it fastest."
        )
    return f"{best.name} is fastest: {duration(middle)}."


def _simulated_lead(section, best, tied):
    time = duration(metrics.time_of(best.case, True))
    names = [best.name] + [r.name for r in tied]
    if not tied:
        return f"{names[0]} is fastest in the model: {time}."
    last = duration(max(metrics.time_of(r.case, True) for r in tied))
    span = time if last == time else between(
        metrics.time_of(best.case, True), max(metrics.time_of(r.case, True) for r in tied)
    )
    return f"{join_words(names)} lead in the model: {span}, no difference of 1 %."


def _slower(section):
    slower = [r for r in section.timed if r.standing == "slower" and r.longer is not None]
    if not slower:
        return []
    if len(slower) == 1:
        return [f"{slower[0].name} takes {percent(slower[0].longer)} longer."]
    if len(slower) <= 4:
        first, *others = slower
        parts = [f"{first.name} takes {percent(first.longer)} longer"]
        parts += [f"{r.name} {percent(r.longer)}" for r in others]
        return [join_words(parts) + "."]
    return [
        f"The other {len(slower)} take {percent(slower[0].longer)} ({slower[0].name}) "
        f"to {percent(slower[-1].longer)} ({slower[-1].name}) longer."
    ]


def _hiding(best):
    case = best.case
    hidden, cost = metrics.hidden_share(case), case.communication_cost_ns
    if not metrics.is_timed(case):
        return []
    if hidden is not None and cost is not None:
        return [
            f"{best.name} hides {percent(hidden)} of its communication behind compute; "
            f"what is left costs {duration(cost)}, "
            f"{percent(metrics.communication_share(case))} of the iteration."
        ]
    if hidden is not None:
        return [f"{best.name} hides {percent(hidden)} of its communication behind compute."]
    if cost is not None:
        return [f"Communication costs {best.name} {duration(cost)} an iteration."]
    return []


def _unclear(section):
    unclear = [r.name for r in section.timed if r.standing == "unclear"]
    if not unclear:
        return []
    verb = "compares" if len(unclear) == 1 else "compare"
    best = section.timed[0].name
    return [f"Too few samples to tell how {join_words(unclear)} {verb} with {best}."]


def _untimed(section):
    sentences = []
    failed = [r.name for r in section.rows if r.case.status == "failed"]
    if failed:
        has = "has" if len(failed) == 1 else "have"
        sentences.append(f"{join_words(failed)} failed verification and {has} no timing.")
    early = [r.name for r in section.rows if r.case.status == "partial"]
    if early:
        sentences.append(f"Stopped early: {join_words(early)}.")
    skipped = [r.name for r in section.rows if r.case.status == "skipped"]
    if skipped:
        sentences.append(f"Skipped: {join_words(skipped)}.")
    return sentences


def observation(section):
    """What the pass that recorded the spans cost, and how well it knows clocks; "" if not known."""
    splits = [r.case.breakdown for r in section.timed if r.case.breakdown]
    observers = [abs(s.observer_ns) for s in splits if s.observer_ns is not None]
    errors = [s.clock_error_ns for s in splits if s.clock_error_ns is not None]
    text = ""
    if observers:
        text += f"Recording spans changed the median by at most {duration(max(observers))}. "
    if errors:
        text += f"Wait and transfer are told apart to {duration(max(errors))}, the clocks' error."
    return text.strip()


def reasons(section):
    """(names, what happened, why) of the cases that are not ok; the same reason is given once."""
    words = {"partial": "stopped early", "failed": "failed verification", "skipped": "skipped"}
    found = {}
    for row in section.rows:
        if row.case.status != "ok":
            why = row.case.reason or "no reason given"
            found.setdefault((words[row.case.status], why), []).append(row.name)
    return [(join_words(names), what, why) for (what, why), names in found.items()]


def banners(result):
    """What a reader must know before any number of this result."""
    found = []
    if result.simulated:
        found.append(
            Banner(
                "caution",
                "Simulated.",
                "No ranks ran; every time here is the model's, made from what is listed below.",
            )
        )
    failed = [c for c in result.cases if c.status == "failed"]
    if failed:
        found.append(
            Banner(
                "failure",
                f"{plural(len(failed), 'case')} failed verification.",
                "The reduced gradients were wrong, so no timing of "
                f"{'it is' if len(failed) == 1 else 'them is'} shown.",
            )
        )
    if not result.complete:
        found.append(
            Banner(
                "caution",
                "This run is not complete.",
                f"It holds {plural(len(result.cases), 'case')}; some that were asked for are "
                "missing or were stopped early.",
            )
        )
    found += _link_banner(result)
    found += _flag_banners(result)
    return found


def _link_banner(result):
    links = [c.link for c in result.cases if c.link is not None]
    if not links and not any("link_emulated" in c.flags for c in result.cases):
        return []
    settings = []
    for link in links:
        text = f"{duration(None if link.a_us is None else link.a_us * 1e3)} a collective"
        text += f", {number(link.gbps)}\u00a0Gb/s"
        if text not in settings:
            settings.append(text)
    total = sum(link.collectives or 0 for link in links)
    overran = sum(link.overran or 0 for link in links)
    kept = f"{overran:,} of {plural(total, 'collective')} took longer than the model allows."
    return [
        Banner(
            "caution",
            f"Emulated link{': ' + '; '.join(settings) if settings else ''}.",
            "A timer, not a network, holds each collective until its modelled time has passed. "
            "The times show what such a link would do. That predictions agree with them is "
            "self-consistency and says nothing about a real network."
            + (f" {kept}" if total else ""),
        )
    ]


def _flag_banners(result):
    """One banner for each flag that puts a result in doubt, with the cases it concerns."""
    texts = {
        "oversubscribed": (
            "More threads than processors",
            "Ranks took processor time from each other; times are longer and noisier than on "
            "a machine with a processor for each.",
        ),
        "machine_bound": (
            "Machine-bound",
            "The time is more than 5 % beside the prediction although the link was emulated: "
            "this machine, not the link, was measured.",
        ),
        "unstable": (
            "Warm-up never settled",
            "Successive blocks still differed by more than 1 % when measuring began.",
        ),
        "few_samples": (
            "Few samples",
            "Fewer than 10 iterations were measured; intervals are wide or missing.",
        ),
    }
    found = []
    for flag, (title, text) in texts.items():
        count = sum(flag in c.flags for c in result.cases)
        if count:
            whole = count == len(result.cases)
            concerned = "all cases" if whole else f"{count} of {plural(len(result.cases), 'case')}"
            found.append(Banner("caution", f"{title} ({concerned}).", text))
    return found
