# SPDX-License-Identifier: Apache-2.0
"""Networks, planners and the time model, small and plain, for the sample results."""

MS = 1e6


def resnet50():
    """(gradient bytes, backward ns) in ready order, about what a V100 does with batch 64."""
    tensors = [(2048 * 1000 + 1000, 1.0)]
    for stage, (blocks, width) in reversed(
        list(enumerate(((3, 64), (4, 128), (6, 256), (3, 512))))
    ):
        for block in reversed(range(blocks)):
            entry = (width * 2 if stage else 64) if block == 0 else 4 * width
            for weight in (4 * width * width, 9 * width * width, entry * width):
                tensors += [(2 * width, 0.1), (weight, 1.0)]
    tensors += [(128, 0.4), (9408, 1.6)]
    return _timed(tensors, 118 * MS)


def vgg16():
    tensors = [(4096 * 1000, 0.6), (4096 * 4096, 0.8), (4096, 0.0), (25088 * 4096, 1.2)]
    for channels, entry, count in (
        (512, 512, 3),
        (512, 256, 3),
        (256, 128, 3),
        (128, 64, 2),
        (64, 3, 2),
    ):
        for i in reversed(range(count)):
            tensors += [(channels, 0.1), (9 * channels * (entry if i == 0 else channels), 3.0)]
    return _timed(tensors, 224 * MS)


def bert_base():
    tensors = [(768 * 768, 0.2)]
    for _ in range(12):
        for weight in (768 * 3072, 768 * 3072, 768 * 768, 768 * 768, 768 * 768, 768 * 768):
            tensors += [(768, 0.02), (weight, weight / 1e6)]
    return _timed(tensors + [(30522 * 768, 0.5), (512 * 768, 0.1)], 170 * MS)


def _timed(tensors, backward_ns):
    total = sum(w for _, w in tensors)
    return [(4 * count, backward_ns * w / total) for count, w in tensors]


MODELS = {
    "resnet50": (resnet50, 64, 59 * MS),
    "vgg16": (vgg16, 64, 112 * MS),
    "bert_base": (bert_base, 16, 84 * MS),
}


class Line:
    """T(M) = a + b M, T(0) = 0."""

    def __init__(self, a, b):
        self.a, self.b = a, b

    def __call__(self, count):
        return self.a + self.b * count if count else 0.0


def group_ends(strategy, tensors, cost):
    """The ends of the groups a strategy makes under a linear cost."""
    count = len(tensors)
    if strategy == "wfbp":
        return list(range(1, count + 1))
    if strategy == "single":
        return [count]
    if strategy == "ddp":
        ends, held, cap = [], 0, 2**20
        for i, (size, _) in enumerate(tensors):
            held += size
            if held >= cap:
                ends.append(i + 1)
                held, cap = 0, 25 * 2**20
        return ends if ends and ends[-1] == count else ends + [count]
    return _mg_wfbp(tensors, cost) if strategy == "mg_wfbp" else _optimal(tensors, cost)


def _mg_wfbp(tensors, cost):
    ends, ready, free, held = [], 0.0, 0.0, 0
    for i, (size, back) in enumerate(tensors):
        if i and ready + back < max(free, ready) + cost.a:
            pass
        elif i:
            free = max(free, ready) + cost(held)
            ends.append(i)
            held = 0
        ready += back
        held += size
    return ends + [len(tensors)]


def _optimal(tensors, cost):
    """f_i = min over j < i of max(f_j, R_i) + T(S_i - S_j), in O(L^2)."""
    best, came, total, ready = [0.0], [0], [0], [0.0]
    for i, (size, back) in enumerate(tensors, 1):
        total.append(total[-1] + size)
        ready.append(ready[-1] + back)
        costs = [max(best[j], ready[i]) + cost(total[i] - total[j]) for j in range(i)]
        best.append(min(costs))
        came.append(costs.index(min(costs)))
    ends, i = [], len(tensors)
    while i:
        ends.append(i)
        i = came[i]
    return ends[::-1]


def timeline(tensors, ends, cost, forward, late=0.0, compute_scale=1.0):
    """Spans of one iteration; `late`: how long each collective waits for its last rank."""
    spans = [_span("compute", "forward", 0, 0.0, forward * compute_scale)]
    now = free = forward * compute_scale
    begin = 0
    for group, end in enumerate(ends):
        work = sum(back for _, back in tensors[begin:end]) * compute_scale
        spans.append(_span("compute", "backward", group, now, now + work))
        now += work
        start = max(free, now)
        free = start + late + cost(sum(size for size, _ in tensors[begin:end]))
        if late:
            spans.append(_span("communication", "wait", group, start, start + late))
        spans.append(_span("communication", "transfer", group, start + late, free))
        begin = end
    return spans, max(now, free)


def _span(lane, activity, group, begin, end):
    return {
        "rank": 0,
        "lane": lane,
        "activity": activity,
        "group": group,
        "begin_ns": begin,
        "end_ns": end,
    }


def overlap(spans):
    """(busy, exposed) of non-overlapping spans on each lane."""
    compute = [(s["begin_ns"], s["end_ns"]) for s in spans if s["lane"] == "compute"]
    busy = hidden = 0.0
    for s in spans:
        if s["lane"] == "communication":
            busy += s["end_ns"] - s["begin_ns"]
            hidden += sum(max(0.0, min(s["end_ns"], e) - max(s["begin_ns"], b)) for b, e in compute)
    return busy, busy - hidden
