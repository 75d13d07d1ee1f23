# SPDX-License-Identifier: Apache-2.0
"""Result files (schema mergewise/result/1, docs/result.md) as checked, immutable values."""

from dataclasses import dataclass
from pathlib import Path

from mergewise_report import wire
from mergewise_report.document import Node, ResultError, parse

SCHEMA = "mergewise/result/1"
STATUSES = ("ok", "partial", "failed", "skipped")
LANES = ("compute", "communication")
# Of results from before `within_optimal`: what they send may end in the next forward pass.
_NEXT_FORWARD = ("dear", "bytescheduler")


@dataclass(frozen=True)
class Workload:
    name: str
    batch: int | None
    times: str
    times_from: str
    tensors: int | None
    bytes: int | None
    forward_ns: float | None
    backward_ns: float | None


@dataclass(frozen=True)
class Summary:
    count: int | None
    median_ns: float | None
    low_ns: float | None
    high_ns: float | None
    confidence: float | None
    mean_ns: float | None
    min_ns: float | None
    p95_ns: float | None
    p99_ns: float | None


@dataclass(frozen=True)
class Breakdown:
    iteration_ns: float | None
    labels_ns: dict[str, float | None]
    busy_ns: float | None
    exposed_ns: float | None
    hidden_ns: float | None
    observer_ns: float | None
    clock_error_ns: float | None = None


@dataclass(frozen=True)
class Link:
    a_us: float | None
    gbps: float | None
    collectives: int | None
    overran: int | None


@dataclass(frozen=True)
class Span:
    lane: str
    activity: str
    group: int
    begin_ns: float
    end_ns: float


@dataclass(frozen=True)
class Plan:
    groups: tuple[int, ...]
    group_bytes: tuple[int | None, ...]
    hash: str
    collectives: tuple[str, ...] = ()  # in the order in which they are first sent


@dataclass(frozen=True)
class Probe:
    """A plan that a searching strategy tried, and its time, measured or predicted."""

    ends: tuple[int, ...]
    iteration_ns: float | None


@dataclass(frozen=True)
class Case:
    workload: Workload
    strategy: str
    options: dict
    compressor: str
    ranks: int | None
    status: str
    reason: str
    verified: bool
    plan: Plan | None
    profile: str
    samples_ns: tuple[float, ...]
    warmup_ns: tuple[float, ...]
    summary: Summary | None
    stopped: str
    predicted_ns: float | None
    optimal_ns: float | None
    gap: float | None
    prediction_error: float | None
    compute_alone_ns: float | None
    communication_cost_ns: float | None
    tax_ns: float | None
    breakdown: Breakdown | None
    link: Link | None
    spans: tuple[Span, ...]
    predicted_spans: tuple[Span, ...]
    flags: tuple[str, ...]
    cluster: str = ""
    accelerator: str = ""
    gbps: float | None = None
    probes: tuple[Probe, ...] = ()
    compression: wire.Compression | None = None
    within_optimal: bool = True  # else it may end in the next forward pass, and beat `optimal`


@dataclass(frozen=True)
class Point:
    bytes: int
    ns: float | None
    low_ns: float | None
    high_ns: float | None
    repetitions: int | None


@dataclass(frozen=True)
class Fit:
    a_ns: float | None
    b_ns_per_byte: float | None
    r_squared: float | None
    largest_error: float | None
    negative_intercept: bool
    gigabits_per_s: float | None


@dataclass(frozen=True)
class Calibration:
    profile: str
    collective: str
    variant: str
    points: tuple[Point, ...]
    fit: Fit | None
    used_line: bool
    used: str  # "line", "segments", "points", "nothing"


@dataclass(frozen=True)
class Result:
    file: str
    name: str
    started: str
    seed: int | None
    simulated: bool
    complete: bool
    environment: dict
    config: dict
    profiles: dict
    calibrations: tuple[Calibration, ...]
    order: tuple[str, ...]
    cases: tuple[Case, ...]


def load(path):
    """Reads and checks a result file. Throws ResultError: unreadable, not JSON, not this schema."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise ResultError(f"{path}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ResultError(f"{path}: is not valid JSON: it is not UTF-8 text") from None
    return result_from(parse(text, str(path)))


def result_from(root: Node):
    schema = root["schema"]
    if schema.value != SCHEMA:
        schema.fail(f'is {schema.value!r}, but this program reads only "{SCHEMA}"')
    return Result(
        file=root.file,
        name=root["name"].text("unnamed") or "unnamed",
        started=root["started"].text(),
        seed=root["seed"].whole(),
        simulated=root["simulated"].flag(),
        complete=root["complete"].flag(),
        environment={k: v.value for k, v in root["environment"].members()},
        config={k: v.value for k, v in root["config"].members()},
        profiles={k: v.value for k, v in root["profiles"].members()},
        calibrations=tuple(_calibration(n) for n in root["calibrations"].items()),
        order=tuple(n.text() for n in root["order"].items()),
        cases=tuple(_case(n) for n in root["cases"].items()),
    )


def _case(node):
    status = node["status"]
    if status.value not in STATUSES:
        status.fail(f"is {status.value!r}, which is none of {', '.join(STATUSES)}")
    return Case(
        workload=_workload(node["workload"]),
        strategy=node["strategy"].required_text(),
        options={k: v.value for k, v in node["options"].members()},
        compressor=node["compressor"].text("none") or "none",
        ranks=node["ranks"].whole(),
        status=status.value,
        reason=node["reason"].text(),
        verified=node["verified"].flag(),
        plan=_optional(node["plan"], _plan),
        profile=node["profile"].text(),
        samples_ns=_numbers(node["samples_ns"]),
        warmup_ns=_numbers(node["warmup_ns"]),
        summary=_optional(node["summary"], _summary),
        stopped=node["stopped"].text(),
        predicted_ns=node["predicted_ns"].number(),
        optimal_ns=node["optimal_ns"].number(),
        gap=node["gap"].number(),
        prediction_error=node["prediction_error"].number(),
        compute_alone_ns=node["compute_alone_ns"].number(),
        communication_cost_ns=node["communication_cost_ns"].number(),
        tax_ns=node["tax_ns"].number(),
        breakdown=_optional(node["breakdown"], _breakdown),
        link=_optional(node["link"], _link),
        spans=_spans(node["spans"]),
        predicted_spans=_spans(node["predicted_spans"]),
        flags=tuple(n.text() for n in node["flags"].items()),
        cluster=node.get("cluster").text(),  # these are younger than the schema
        accelerator=node.get("accelerator").text(),
        gbps=node.get("gbps").number(),
        probes=tuple(_probe(n) for n in node.get("probes").items()),
        compression=_optional(node.get("compression"), wire.compression),
        within_optimal=_within_optimal(node),
    )


def _within_optimal(node):
    flag = node.get("within_optimal")
    return node["strategy"].text() not in _NEXT_FORWARD if flag.is_null() else flag.flag()


def _optional(node, read):
    return None if node.is_null() else read(node)


def _numbers(node):
    """A list of numbers; nulls in it are left out."""
    if node.value in (None, []):
        return ()
    return tuple(v for v in (n.number() for n in node.items()) if v is not None)


def _workload(node):
    return Workload(
        name=node["name"].required_text(),
        batch=node["batch"].whole(),
        times=node.get("times").text(),  # younger than the schema
        times_from=node["times_from"].text(),
        tensors=node["tensors"].whole(),
        bytes=node["bytes"].whole(),
        forward_ns=node["forward_ns"].number(),
        backward_ns=node["backward_ns"].number(),
    )


def _wholes(node):
    """A list of whole numbers and nulls. Large plans are most of a large file: no Node for each."""
    if isinstance(node.value, list) and all(type(v) is int for v in node.value):
        return tuple(node.value)
    return tuple(n.whole() for n in node.items())


def _plan(node):
    sends = node.get("sends").items()
    names = [n["collective"].text() for n in sends] or [node.get("collective").text()]
    return Plan(
        groups=tuple(end or 0 for end in _wholes(node["groups"])),
        group_bytes=_wholes(node["group_bytes"]),
        hash=node["hash"].text(),
        collectives=tuple(dict.fromkeys(name for name in names if name)),
    )


def _probe(node):
    ends = node.get("ends") if not node.get("ends").is_null() else node.get("groups")
    return Probe(tuple(end or 0 for end in _wholes(ends)), node.get("iteration_ns").number())


def _summary(node):
    names = (
        "median_ns",
        "low_ns",
        "high_ns",
        "confidence",
        "mean_ns",
        "min_ns",
        "p95_ns",
        "p99_ns",
    )
    return Summary(node["count"].whole(), *(node[name].number() for name in names))


def _breakdown(node):
    return Breakdown(
        iteration_ns=node["iteration_ns"].number(),
        labels_ns={k: v.number() for k, v in node["labels_ns"].members()},
        busy_ns=node["busy_ns"].number(),
        exposed_ns=node["exposed_ns"].number(),
        hidden_ns=node["hidden_ns"].number(),
        observer_ns=node["observer_ns"].number(),
        clock_error_ns=node.get("clock_error_ns").number(),  # younger than the schema
    )


def _link(node):
    return Link(
        node["a_us"].number(),
        node["gbps"].number(),
        node["collectives"].whole(),
        node["overran"].whole(),
    )


def _spans(node):
    """Spans in file order; one without a beginning or an end is left out."""
    spans = []
    for n in node.items():
        lane, begin, end = n["lane"], n["begin_ns"].number(), n["end_ns"].number()
        if lane.value not in LANES:
            lane.fail(f"is {lane.value!r}, which is none of {', '.join(LANES)}")
        if begin is not None and end is not None:
            group = n["group"].whole() or 0
            spans.append(Span(lane.value, n["activity"].text(), group, begin, end))
    return tuple(spans)


def _calibration(node):
    used_line = node["used_line"].flag()
    return Calibration(
        profile=node["profile"].text(),
        collective=node["collective"].text(),
        variant=node["variant"].text(),
        points=tuple(_point(n) for n in node["points"].items() if n["bytes"].number()),
        fit=_optional(node["fit"], _fit),
        used_line=used_line,
        used=node.get("used").text() or ("line" if used_line else "points"),  # younger
    )


def _point(node):
    return Point(
        bytes=node["bytes"].whole(),
        ns=node["ns"].number(),
        low_ns=node["low_ns"].number(),
        high_ns=node["high_ns"].number(),
        repetitions=node["repetitions"].whole(),
    )


def _fit(node):
    return Fit(
        a_ns=node["a_ns"].number(),
        b_ns_per_byte=node["b_ns_per_byte"].number(),
        r_squared=node["r_squared"].number(),
        largest_error=node["largest_error"].number(),
        negative_intercept=node["negative_intercept"].flag(),
        gigabits_per_s=node["gigabits_per_s"].number(),
    )
