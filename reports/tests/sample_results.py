# SPDX-License-Identifier: Apache-2.0
"""Result documents as `mergewise run` writes them, made from the time model and seeded noise.

As a program: `python sample_results.py quickstart -o result.json` (other names: see SAMPLES).
"""

import argparse
import copy
import hashlib
import json
import random
from statistics import mean, median

MS = 1e6


def resnet50():
    """(gradient bytes, backward ns) in ready order, about what a V100 does with batch 64."""
    tensors = [(2048 * 1000 + 1000, 1.0)]
    for stage, (blocks, width) in reversed(list(enumerate(((3, 64), (4, 128), (6, 256), (3, 512))))):
        for block in reversed(range(blocks)):
            entry = (width * 2 if stage else 64) if block == 0 else 4 * width
            for weight in (4 * width * width, 9 * width * width, entry * width):
                tensors += [(2 * width, 0.1), (weight, 1.0)]
    tensors += [(128, 0.4), (9408, 1.6)]
    return _timed(tensors, 118 * MS)


def vgg16():
    tensors = [(4096 * 1000, 0.6), (4096 * 4096, 0.8), (4096, 0.0), (25088 * 4096, 1.2)]
    for channels, entry, count in ((512, 512, 3), (512, 256, 3), (256, 128, 3), (128, 64, 2), (64, 3, 2)):
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


MODELS = {"resnet50": (resnet50, 64, 59 * MS), "vgg16": (vgg16, 64, 112 * MS), "bert_base": (bert_base, 16, 84 * MS)}


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
    return {"rank": 0, "lane": lane, "activity": activity, "group": group, "begin_ns": begin, "end_ns": end}


def overlap(spans):
    """(busy, exposed) of non-overlapping spans on each lane."""
    compute = [(s["begin_ns"], s["end_ns"]) for s in spans if s["lane"] == "compute"]
    busy = hidden = 0.0
    for s in spans:
        if s["lane"] == "communication":
            busy += s["end_ns"] - s["begin_ns"]
            hidden += sum(max(0.0, min(s["end_ns"], e) - max(s["begin_ns"], b)) for b, e in compute)
    return busy, busy - hidden


def interval(samples, rng, block=5):
    if len(samples) < 2 * block:
        return min(samples), max(samples)
    medians = []
    for _ in range(400):
        drawn = []
        while len(drawn) < len(samples):
            at = rng.randrange(len(samples) - block + 1)
            drawn += samples[at : at + block]
        medians.append(median(drawn[: len(samples)]))
    medians.sort()
    return medians[9], medians[389]


def make_case(name, strategy, cost, ranks, rng, link=None, noise=0.008, count=25, bias=0.015):
    build, batch, forward = MODELS[name]
    tensors = build()
    ends = group_ends(strategy, tensors, cost)
    _, predicted = timeline(tensors, ends, cost, forward)
    predicted_spans, _ = timeline(tensors, ends, cost, forward)
    _, optimal = timeline(tensors, group_ends("optimal", tensors, cost), cost, forward)
    late = 0.12 * MS if ranks > 1 else 0.0
    real = Line(cost.a * (1 + bias), cost.b * (1 + bias))
    spans, base = timeline(tensors, ends, real, forward, late)
    samples = [base * (1 + abs(rng.gauss(0, noise)) + rng.gauss(0, noise / 4)) for _ in range(count)]
    warmup = [base * (1 + 0.09 / (i + 1) + abs(rng.gauss(0, noise))) for i in range(15)]
    low, high = interval(samples, rng)
    middle = median(samples)
    compute = forward + sum(back for _, back in tensors)
    busy, exposed = overlap(spans)
    waited = sum(s["end_ns"] - s["begin_ns"] for s in spans if s["activity"] == "wait")
    waited = min(waited, exposed)
    bounds = [0, *ends]
    sizes = [sum(size for size, _ in tensors[a:b]) for a, b in zip(bounds, bounds[1:])]
    ordered = sorted(samples)
    flags = ["link_emulated"] if link else []
    return {
        "workload": {
            "name": name, "batch": batch, "times_from": "v100", "tensors": len(tensors),
            "bytes": sum(size for size, _ in tensors), "forward_ns": forward,
            "backward_ns": compute - forward,
        },
        "strategy": strategy,
        "options": {"cap_bytes": 26214400, "first_cap_bytes": 1048576} if strategy == "ddp" else {},
        "compressor": "none",
        "ranks": ranks,
        "status": "ok",
        "reason": "",
        "verified": True,
        "plan": {
            "schema": "mergewise/plan/1", "strategy": strategy, "groups": ends, "group_bytes": sizes,
            "hash": hashlib.sha256(json.dumps(ends).encode()).hexdigest()[:16],
        },
        "profile": f"{name}/{ranks}",
        "samples_ns": samples,
        "warmup_ns": warmup,
        "summary": {
            "count": count, "median_ns": middle, "low_ns": low, "high_ns": high, "confidence": 0.95,
            "mean_ns": mean(samples), "min_ns": min(samples), "p95_ns": ordered[int(0.95 * count)],
            "p99_ns": ordered[-1],
        },
        "stopped": "target",
        "predicted_ns": predicted,
        "optimal_ns": optimal,
        "gap": predicted / optimal - 1,
        "prediction_error": predicted / middle - 1,
        "compute_alone_ns": compute,
        "communication_cost_ns": middle - compute,
        "tax_ns": None,
        "breakdown": {
            "iteration_ns": base,
            "labels_ns": {
                "compute": compute, "pack": 0.0, "update": 0.0, "transfer": exposed - waited,
                "wait": waited, "idle": base - compute - exposed,
            },
            "busy_ns": busy, "exposed_ns": exposed, "hidden_ns": busy - exposed, "observer_ns": 0.4 * MS, "clock_error_ns": 0.015 * MS,
        },
        "link": dict(link, collectives=len(ends) * 60, overran=len(ends) // 20) if link else None,
        "spans": spans,
        "predicted_spans": predicted_spans,
        "flags": flags,
    }


def make_calibration(cost, profile, rng, used_line=True):
    points = []
    for power in range(10, 28, 2):
        ns = cost(2**power) * (1 + rng.gauss(0, 0.02))
        points.append({
            "bytes": 2**power, "ns": ns, "low_ns": ns * 0.97, "high_ns": ns * 1.05, "repetitions": 20,
        })
    return {
        "profile": profile, "collective": "all_reduce", "variant": "back_to_back", "points": points,
        "fit": {
            "a_ns": cost.a, "b_ns_per_byte": cost.b, "r_squared": 0.9993,
            "largest_error": max(abs(cost(p["bytes"]) / p["ns"] - 1) for p in points),
            "negative_intercept": False, "gigabits_per_s": 8 / cost.b,
        },
        "used_line": used_line,
    }


STRATEGIES = ("wfbp", "single", "ddp", "mg_wfbp", "optimal")
ENVIRONMENT = {
    "mergewise": {"version": "0.1.0", "revision": "3f63ff9", "dirty": False, "compiler": "g++ 12.2.0"},
    "host": "node-17",
    "kernel": "Linux 6.1.0-18-amd64",
    "processor": {"model": "AMD EPYC 7B13", "allowed": 8, "affinity": "0-7", "governor": None},
    "cgroup": {"cpu_max": "8.00", "memory_bytes": 2**34},
    "libraries": {"gloo": "2022-05", "openblas": "0.3.21"},
    "settings": {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
}


def make_result(names=("resnet50",), ranks=(4,), link={"a_us": 8000.0, "gbps": 2.5}, seed=1, **choices):
    """A complete run; without a link, a network of about 10 Gb/s."""
    rng = random.Random(seed)
    cases, calibrations, profiles = [], [], {}
    for name in names:
        for count in ranks:
            share = 2 * (count - 1) / count
            a, gbps = (link["a_us"] * 1e3, link["gbps"]) if link else (0.35 * MS, 8.1)
            cost = Line(a, share * 8 / gbps)
            profile = f"{name}/{count}"
            profiles[profile] = {
                "schema": "mergewise/profile/1", "name": profile,
                "all_reduce": {"model": "linear", "a_ns": cost.a, "b_ns_per_byte": cost.b},
            }
            calibrations.append(make_calibration(cost, profile, rng))
            cases += [make_case(name, s, cost, count, rng, link, **choices) for s in STRATEGIES]
    order = [f"{c['workload']['name']}/{c['strategy']}/none/{c['ranks']}" for c in cases] * 5
    rng.shuffle(order)
    return {
        "schema": "mergewise/result/1", "name": "quickstart", "started": "2026-11-14T09:12:44Z", "seed": seed,
        "simulated": False, "complete": True, "environment": copy.deepcopy(ENVIRONMENT),
        "config": {
            "name": "quickstart", "workloads": [{"model": n, "batch": MODELS[n][1]} for n in names],
            "strategies": list(STRATEGIES), "ranks": list(ranks), "link": link, "budget": "150s",
        },
        "profiles": profiles, "calibrations": calibrations, "order": order, "cases": cases,
    }


def troubled():
    """A run where everything that can be said of a case is said once."""
    result = make_result(noise=0.02)
    result.update(name="troubled run", complete=False)
    wfbp, single, ddp, mg_wfbp, optimal = result["cases"]
    for case in result["cases"]:
        case["flags"].append("oversubscribed")
    wfbp["flags"] += ["machine_bound", "unstable"]
    wfbp["prediction_error"] = -0.14
    wfbp["predicted_ns"] = 0.86 * wfbp["summary"]["median_ns"]
    single.update(status="failed", verified=False, reason="rank 2: layer4.2.conv3.weight[17] is 12, expected 24")
    ddp.update(status="skipped", verified=False, reason="the budget of 150s was used up", summary=None,
               samples_ns=[], warmup_ns=[], spans=[], breakdown=None, communication_cost_ns=None,
               prediction_error=None)
    mg_wfbp.update(status="partial", reason="stopped by SIGINT", stopped="signal",
                   samples_ns=mg_wfbp["samples_ns"][:7])
    mg_wfbp["summary"].update(count=7, median_ns=median(mg_wfbp["samples_ns"]))
    mg_wfbp["communication_cost_ns"] = mg_wfbp["summary"]["median_ns"] - mg_wfbp["compute_alone_ns"]
    mg_wfbp["flags"].append("few_samples")
    fit = result["calibrations"][0]
    fit["used_line"] = False
    fit["fit"].update(negative_intercept=True, largest_error=0.62, r_squared=0.91)
    return result


def real_network():
    """Three models over a network that is not emulated, with computed (not timed) compute."""
    result = make_result(tuple(MODELS), (4,), None, seed=3, bias=0.04, noise=0.012)
    result["name"] = "networks"
    for case in result["cases"]:
        case["tax_ns"] = 0.03 * case["compute_alone_ns"]
    return result


def many(cases=160):
    result = make_result(tuple(MODELS), (2, 4, 8), seed=5)
    result["name"] = "many cases"
    pool = result["cases"]
    while len(result["cases"]) < cases:
        index = len(result["cases"])
        case = copy.deepcopy(pool[index % 45])
        case["workload"]["name"] += f"_{index // 45}"
        result["cases"].append(case)
    return result


SAMPLES = {"quickstart": make_result, "troubled": troubled, "real_network": real_network, "many": many}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sample", choices=SAMPLES)
    parser.add_argument("-o", "--output", required=True)
    options = parser.parse_args()
    with open(options.output, "w", encoding="utf-8") as file:
        json.dump(SAMPLES[options.sample](), file)


if __name__ == "__main__":
    main()
