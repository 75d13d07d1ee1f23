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

from sample_model import MODELS, MS, Line, group_ends, overlap, timeline

LINK = {"a_us": 8000.0, "gbps": 2.5}


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
    """A case whose network is slower than the cost model by `bias`, with one-sided noise."""
    build, batch, forward = MODELS[name]
    tensors = build()
    ends = group_ends(strategy, tensors, cost)
    predicted_spans, predicted = timeline(tensors, ends, cost, forward)
    _, optimal = timeline(tensors, group_ends("optimal", tensors, cost), cost, forward)
    real = Line(cost.a * (1 + bias), cost.b * (1 + bias))
    spans, base = timeline(tensors, ends, real, forward, late=0.12 * MS if ranks > 1 else 0.0)
    compute = forward + sum(back for _, back in tensors)
    case = {
        "workload": {
            "name": name, "batch": batch, "times": "modelled", "times_from": "roofline v100", "tensors": len(tensors),
            "bytes": sum(size for size, _ in tensors), "forward_ns": forward, "backward_ns": compute - forward,
        },
        "strategy": strategy,
        "options": {"cap_bytes": 26214400, "first_cap_bytes": 1048576} if strategy == "ddp" else {},
        "compressor": "none", "ranks": ranks, "status": "ok", "reason": "", "verified": True,
        "plan": make_plan(strategy, tensors, ends),
        "profile": f"{name}/{ranks}",
        **make_samples(base, noise, count, rng),
        "stopped": "target", "predicted_ns": predicted, "optimal_ns": optimal, "gap": predicted / optimal - 1,
        "compute_alone_ns": compute, "tax_ns": None,
        "breakdown": make_breakdown(spans, base, compute),
        "link": dict(link, collectives=len(ends) * 60, overran=len(ends) // 20) if link else None,
        "spans": spans,
        "predicted_spans": predicted_spans,
        "flags": ["link_emulated"] if link else [],
    }  # fmt: skip
    middle = case["summary"]["median_ns"]
    return case | {
        "prediction_error": predicted / middle - 1,
        "communication_cost_ns": middle - compute,
    }


def make_plan(strategy, tensors, ends):
    sizes = [sum(size for size, _ in tensors[a:b]) for a, b in zip([0, *ends], ends)]
    digest = hashlib.sha256(json.dumps(ends).encode()).hexdigest()[:16]
    return {
        "schema": "mergewise/plan/1", "strategy": strategy, "groups": ends, "group_bytes": sizes, "hash": digest,
    }  # fmt: skip


def make_samples(base, noise, count, rng):
    samples = [
        base * (1 + abs(rng.gauss(0, noise)) + rng.gauss(0, noise / 4)) for _ in range(count)
    ]
    low, high = interval(samples, rng)
    ordered = sorted(samples)
    return {
        "samples_ns": samples,
        "warmup_ns": [base * (1 + 0.09 / (i + 1) + abs(rng.gauss(0, noise))) for i in range(15)],
        "summary": {
            "count": count, "median_ns": median(samples), "low_ns": low, "high_ns": high, "confidence": 0.95,
            "mean_ns": mean(samples), "min_ns": min(samples), "p95_ns": ordered[int(0.95 * count)],
            "p99_ns": ordered[-1],
        },
    }  # fmt: skip


def make_breakdown(spans, iteration, compute):
    busy, exposed = overlap(spans)
    waited = min(
        exposed, sum(s["end_ns"] - s["begin_ns"] for s in spans if s["activity"] == "wait")
    )
    return {
        "iteration_ns": iteration,
        "labels_ns": {
            "compute": compute, "pack": 0.0, "update": 0.0, "transfer": exposed - waited, "wait": waited,
            "idle": iteration - compute - exposed,
        },
        "busy_ns": busy, "exposed_ns": exposed, "hidden_ns": busy - exposed, "observer_ns": 0.4 * MS,
        "clock_error_ns": 0.015 * MS,
    }  # fmt: skip


def make_calibration(cost, profile, rng, used_line=True):
    points = []
    for power in range(10, 28, 2):
        ns = cost(2**power) * (1 + rng.gauss(0, 0.02))
        points.append(
            {
                "bytes": 2**power,
                "ns": ns,
                "low_ns": ns * 0.97,
                "high_ns": ns * 1.05,
                "repetitions": 20,
            }
        )
    return {
        "profile": profile,
        "collective": "all_reduce",
        "variant": "back_to_back",
        "points": points,
        "fit": {
            "a_ns": cost.a,
            "b_ns_per_byte": cost.b,
            "r_squared": 0.9993,
            "largest_error": max(abs(cost(p["bytes"]) / p["ns"] - 1) for p in points),
            "negative_intercept": False,
            "gigabits_per_s": 8 / cost.b,
        },
        "used_line": used_line,
    }


STRATEGIES = ("wfbp", "single", "ddp", "mg_wfbp", "optimal")
ENVIRONMENT = {
    "mergewise": {
        "version": "0.1.0",
        "revision": "3f63ff9",
        "dirty": False,
        "compiler": "g++ 12.2.0",
    },
    "host": "node-17",
    "kernel": "Linux 6.1.0-18-amd64",
    "processor": {"model": "AMD EPYC 7B13", "allowed": 8, "affinity": "0-7", "governor": None},
    "cgroup": {"cpu_max": "8.00", "memory_bytes": 2**34},
    "libraries": {"gloo": "2022-05", "openblas": "0.3.21"},
    "settings": {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
}


def make_result(names=("resnet50",), ranks=(4,), link=LINK, seed=1, **choices):
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
                "schema": "mergewise/profile/1",
                "name": profile,
                "all_reduce": {"model": "linear", "a_ns": cost.a, "b_ns_per_byte": cost.b},
            }
            calibrations.append(make_calibration(cost, profile, rng))
            cases += [make_case(name, s, cost, count, rng, link, **choices) for s in STRATEGIES]
    order = [f"{c['workload']['name']}/{c['strategy']}/none/{c['ranks']}" for c in cases] * 5
    rng.shuffle(order)
    return {
        "schema": "mergewise/result/1",
        "name": "quickstart",
        "started": "2026-11-14T09:12:44Z",
        "seed": seed,
        "simulated": False,
        "complete": True,
        "environment": copy.deepcopy(ENVIRONMENT),
        "config": {
            "name": "quickstart",
            "workloads": [{"model": n, "batch": MODELS[n][1]} for n in names],
            "strategies": list(STRATEGIES),
            "ranks": list(ranks),
            "link": link,
            "budget": "150s",
        },
        "profiles": profiles,
        "calibrations": calibrations,
        "order": order,
        "cases": cases,
    }


# label: (bytes of a dense message by those of a compressed one, gathered, share of the time, error)
COMPRESSED = {
    "fp16": (2.0, False, 0.6, 3e-4),
    "topk density=0.01": (50.0, True, 0.4, 0.9),
    "signsgd": (32.0, True, 0.5, None),
}


def make_compression(label, case):
    """What the case's record says of its compressor, 1 ms a group beside 20 ms for all bytes."""
    smaller, gathered, _, error = COMPRESSED[label]
    dense, ranks = case["workload"]["bytes"], case["ranks"]
    message = int(dense / smaller)
    share = 2 * (ranks - 1) / ranks
    sent = (ranks - 1 if gathered else share) * message
    groups = len(case["plan"]["groups"])
    return {
        "id": label.split()[0], "options": {}, "memory_bytes": dense, "dense_bytes": dense,
        "planned_bytes": message, "planned_compress_ns": groups * MS + 12 * MS, "planned_decompress_ns": 8 * MS,
        "message_bytes": message, "sent_bytes": sent, "received_bytes": sent, "planned_sent_bytes": sent,
        "dense_sent_bytes": share * dense, "nans": 0, "infinities": 0,
        "error": None if error is None else {"whole": error, "worst_tensor": 30 * error},
    }  # fmt: skip


def compressed():
    """A run with three compressors beside dense gradients."""
    result = make_result()
    result["name"] = "compressors"
    dense = list(result["cases"])
    for label, (_, gathered, faster, _) in COMPRESSED.items():
        for case in copy.deepcopy(dense):
            case["compressor"] = label
            case["plan"]["collective"] = "all_gather" if gathered else "all_reduce"
            case["compression"] = make_compression(label, case)
            case["samples_ns"] = [faster * v for v in case["samples_ns"]]
            case["summary"].update(
                {k: faster * v for k, v in case["summary"].items() if k.endswith("_ns")}
            )
            case["communication_cost_ns"] = None
            result["cases"].append(case)
    return result


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
    single.update(
        status="failed",
        verified=False,
        reason="rank 2: layer4.2.conv3.weight[17] is 12, expected 24",
    )
    ddp.update(
        status="skipped",
        verified=False,
        reason="the budget of 150s was used up",
        summary=None,
        samples_ns=[],
        warmup_ns=[],
        spans=[],
        breakdown=None,
        communication_cost_ns=None,
        prediction_error=None,
    )
    mg_wfbp.update(
        status="partial",
        reason="stopped by SIGINT",
        stopped="signal",
        samples_ns=mg_wfbp["samples_ns"][:7],
    )
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


SAMPLES = {
    "quickstart": make_result,
    "troubled": troubled,
    "compressors": compressed,
    "real_network": real_network,
    "many": many,
}


def write_sample(samples, description):
    """The command line of a file of samples: writes the one that is named."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("sample", choices=samples)
    parser.add_argument("-o", "--output", required=True)
    options = parser.parse_args()
    with open(options.output, "w", encoding="utf-8") as file:
        json.dump(samples[options.sample](), file)


if __name__ == "__main__":
    write_sample(SAMPLES, __doc__)
