# SPDX-License-Identifier: Apache-2.0
"""Simulated results as `mergewise simulate` writes them, from rough formulas of their own.

As a program: `python sample_simulation.py break_even -o result.json` (other names: see SAMPLES).
"""

import copy
import math

from sample_model import MODELS, Line, group_ends, timeline
from sample_results import ENVIRONMENT, make_plan, write_sample

STRATEGIES = (
    "wfbp", "single", "ddp", "horovod", "mg_wfbp", "omgs", "mergecomp", "dear", "bytescheduler",
    "optimal",
)  # fmt: skip
LATENCY = 12e3  # ns a step


def line(ranks, gbps, compressor="none"):
    """A ring, or trees where they are cheaper to start; sparse messages are gathered."""
    if compressor != "none":
        return Line(math.log2(ranks) * LATENCY, 0.002 * (ranks - 1) * 8 / gbps)
    a = min(2 * (ranks - 1), 4 * math.log2(ranks)) * LATENCY
    return Line(a, 2 * (ranks - 1) / ranks * 8 / gbps)


def times(tensors, forward, cost):
    """Iteration times by strategy, those without a planner here by a plain rule of thumb."""
    found = {}
    for name in ("wfbp", "single", "ddp", "mg_wfbp", "optimal"):
        ends = group_ends(name, tensors, cost)
        found[name] = (ends, timeline(tensors, ends, cost, forward)[1])
    ends, ddp = found["ddp"]
    least = found["optimal"][1]
    compute = forward + sum(back for _, back in tensors)
    found["horovod"] = (ends, 1.03 * ddp)
    found["omgs"] = found["mg_wfbp"]
    found["mergecomp"] = (ends[:1] + ends[-1:], min(1.06 * least, found["single"][1]))
    found["dear"] = (ends, max(compute, 0.55 * ddp + 0.4 * compute))
    found["bytescheduler"] = (ends, max(compute, 0.96 * found["wfbp"][1]))
    return found


def make_case(model, strategy, found, ranks, compressor, place, spans=()):
    build, batch, forward = MODELS[model]
    tensors = build()
    ends, predicted = found[strategy]
    optimal = found["optimal"][1]
    compute = forward + sum(back for _, back in tensors)
    plan = make_plan(strategy, tensors, ends)
    if strategy in ("dear", "bytescheduler"):
        kinds = ("reduce_scatter", "all_gather") if strategy == "dear" else ("all_reduce",)
        plan["sends"] = [
            {"begin": a, "end": b, "collective": kind,
             "release": "when_ready" if kind == "reduce_scatter" else "before_forward"}
            for kind in kinds for a, b in zip([0, *ends], ends)
        ]  # fmt: skip
    else:
        plan["collective"] = "all_reduce" if compressor == "none" else "all_gather"
    return {
        "workload": {
            "name": model, "batch": batch, "times": "modelled", "times_from": "roofline v100",
            "tensors": len(tensors), "bytes": sum(s for s, _ in tensors), "forward_ns": forward,
            "backward_ns": compute - forward,
        },
        "strategy": strategy, "options": {}, "compressor": compressor, "ranks": ranks,
        "cluster": place[0], "accelerator": "v100", "gbps": place[1],
        "status": "ok", "reason": "", "verified": False, "plan": plan, "profile": "",
        "samples_ns": [], "warmup_ns": [], "summary": None, "stopped": "",
        "predicted_ns": predicted, "optimal_ns": optimal, "gap": predicted / optimal - 1,
        "within_optimal": strategy not in ("dear", "bytescheduler"),
        "prediction_error": None, "compute_alone_ns": compute, "communication_cost_ns": None,
        "tax_ns": None, "breakdown": None, "link": None, "spans": [],
        "predicted_spans": list(spans), "flags": [],
    }  # fmt: skip


def make_simulation(
    models=("resnet50",), places=(("ethernet_10g", 10.0),), ranks=(2, 4, 8, 16, 32, 64),
    compressors=("none",), strategies=STRATEGIES, with_spans=False,
):  # fmt: skip
    cases = []
    for model in models:
        build, _, forward = MODELS[model]
        tensors = build()
        for place in places:
            for count in ranks:
                for compressor in compressors:
                    cost = line(count, place[1], compressor)
                    busy = 1.0 if compressor == "none" else 1.25  # what compressing costs
                    found = times(tensors, forward * busy, cost)
                    for name in strategies:
                        spans = ()
                        if with_spans and name in ("wfbp", "single", "ddp", "mg_wfbp", "optimal"):
                            spans = timeline(tensors, found[name][0], cost, forward * busy)[0]
                        case = make_case(model, name, found, count, compressor, place, spans)
                        cases.append(case)
    config = {"name": "simulation", "strategies": list(strategies), "ranks": list(ranks)}
    return {
        "schema": "mergewise/result/1", "name": "simulation", "started": "2026-11-14T09:12:44Z",
        "seed": 1, "simulated": True, "complete": True, "environment": copy.deepcopy(ENVIRONMENT),
        "config": config, "profiles": {}, "calibrations": [], "order": [], "cases": cases,
    }  # fmt: skip


def small():
    """Few cases, with spans, on two clusters."""
    places = (("ethernet_10g", 10.0), ("infiniband_100g", 100.0))
    result = make_simulation(places=places, ranks=(4, 16, 64), with_spans=True)
    for case in result["cases"]:
        if case["strategy"] == "mergecomp":
            last = case["plan"]["groups"][-1]
            case["probes"] = [
                {"ends": [end, last], "iteration_ns": case["predicted_ns"] * (1 + 0.02 * i)}
                for i, end in enumerate((last // 2, last // 4, last // 8))
            ]
    return result


def break_even(models=tuple(MODELS), bandwidths=20, ranks=12, compressors=("none",)):
    """Bandwidth x ranks, one cluster's network swept."""
    rates = [round(400 ** (i / max(1, bandwidths - 1)), 1) for i in range(bandwidths)]
    places = [("ethernet", rate) for rate in rates]
    return make_simulation(models, places, [2 ** (i + 1) for i in range(ranks)], compressors)


def compressed():
    return break_even(("resnet50",), 8, 6, ("none", "topk"))


SAMPLES = {"small": small, "break_even": break_even, "compressed": compressed}


if __name__ == "__main__":
    write_sample(SAMPLES, __doc__)
