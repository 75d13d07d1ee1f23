# SPDX-License-Identifier: Apache-2.0
"""From recorded passes to one time for every tensor: pure functions, no torch."""

from dataclasses import dataclass, field
from statistics import median
from typing import Dict, List, Optional, Set, Tuple

from mergewise_export.errors import PassError


@dataclass
class Pass:
    """One recorded pass. Nanoseconds."""

    forward: float  # the loss included
    backward: float
    ready: Dict[str, float]  # from the start of the backward pass; in the order of the events
    # When each module with parameters of its own was called, from the start: (their names, time).
    begins: List[Tuple[Tuple[str, ...], float]] = field(default_factory=list)
    repeated: Set[str] = field(default_factory=set)  # became ready more than once


@dataclass
class Times:
    """Whole nanoseconds: `backward` adds up to backward_ns, `forward` to forward_ns."""

    order: List[str]  # ready order
    forward_ns: int
    backward_ns: int
    backward: List[int]  # by `order`
    forward: Optional[List[int]]  # by `order`; None where the modules' calls were not seen
    tail_ns: int  # work after the last gradient, within the last one's backward time
    unsteady_passes: int  # passes with another ready order than `order`
    sometimes: List[str]  # tensors without a gradient in some passes


def summarise(passes):
    """Medians over the passes. Throws where something has not been measured."""
    order = _ready_order(passes)
    if not order:
        raise PassError("no parameter got a gradient: the loss depends on none of the model's parameters")
    forward_ns = round(median(p.forward for p in passes))
    ready = _rising(median(p.ready[name] for p in passes if name in p.ready) for name in order)
    backward_ns = max(ready[-1], round(median(p.backward for p in passes)))
    for what, total in (("forward", forward_ns), ("backward", ready[-1])):
        if total <= 0:
            raise PassError(f"the {what} pass took no time at all by the device's clock: there is nothing to write")
    tail_ns = backward_ns - ready[-1]
    ends = ready[:-1] + [backward_ns]
    return Times(
        order=order,
        forward_ns=forward_ns,
        backward_ns=backward_ns,
        backward=_differences(ends),
        forward=_forward_times(passes, order, forward_ns),
        tail_ns=tail_ns,
        unsteady_passes=sum(list(p.ready) != [n for n in order if n in p.ready] for p in passes),
        sometimes=[name for name in order if not all(name in p.ready for p in passes)],
    )


def _ready_order(passes):
    """The order of all passes where they agree, else that of the median times."""
    first = list(passes[0].ready)
    if all(list(p.ready) == first for p in passes):
        return first
    samples = {}
    for one in passes:
        for name, time in one.ready.items():
            samples.setdefault(name, []).append(time)
    return sorted(samples, key=lambda name: median(samples[name]))


def _rising(times):
    """Whole numbers, each at least the one before and none below 0."""
    result = []
    for time in times:
        result.append(max(result[-1] if result else 0, round(time)))
    return result


def _differences(ends):
    return [end - start for start, end in zip([0] + ends[:-1], ends)]


def _forward_times(passes, order, forward_ns):
    """Forward time by tensor: from a module's call to the next one's it belongs to the module's
    first ready tensor, as the backward work of the same stretch does."""
    rank = {name: index for index, name in enumerate(order)}
    shares = [_forward_shares(one, rank) for one in passes]
    if None in shares:
        return None
    medians = [median(share[index] for share in shares) for index in range(len(order))]
    total = sum(medians)
    if total <= 0:
        return None
    sums, ends = 0, []
    for part in medians:
        sums += part
        ends.append(round(forward_ns * (sums / total)))
    return _differences(ends)


def _forward_shares(one, rank):
    begins = []
    for own, time in one.begins:
        ranks = [rank[name] for name in own if name in rank]
        if ranks and time <= one.forward:  # and not again in the backward pass, by a checkpoint
            begins.append((min(ranks), time))
    if not begins:
        return None
    shares = [0.0] * len(rank)
    starts = [0] + [time for _, time in begins[1:]]
    ends = starts[1:] + [one.forward]
    for (tensor, _), start, end in zip(begins, starts, ends):
        shares[tensor] += max(0.0, end - start)
    return shares
