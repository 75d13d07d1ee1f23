# SPDX-License-Identifier: Apache-2.0
"""Results to one HTML page: builds what the templates show, figures included."""

import json
from dataclasses import dataclass, field

from mergewise_report import compression, metrics, simulation, tables, units, words
from mergewise_report.figures import (
    bars,
    canvas,
    compressing,
    fit,
    labels,
    prediction,
    samples,
    timeline,
)
from mergewise_report.rendering import render

# Beyond these a page would be too heavy to open; the page says what it left out.
MOST_ROWS_IN_A_FIGURE = 12
MOST_SECTIONS_WITH_FIGURES = 20
MOST_SIMULATED_SECTIONS = 24  # of more, only maps and curves are shown
_FIGURES = {
    "bars": (bars, canvas.WIDE),
    "timeline": (timeline, canvas.WIDE),
    "prediction": (prediction, canvas.HALF),
    "labels": (labels, canvas.HALF),
    "samples": (samples, canvas.WIDE),
}


@dataclass
class Figure:
    renditions: list  # (wide | narrow, svg)
    legend: list  # (colour, label)
    is_cut: bool  # a bar goes on beyond the axis


@dataclass
class SectionView:
    ident: str
    section: metrics.Section
    lead: str
    rest: str
    tiles: list
    ranking: list
    unit: str
    reasons: list
    observation: str
    plans: list
    contradictions: list
    emulated: bool
    measured: bool
    probes: list
    figures: dict = field(default_factory=lambda: dict.fromkeys(_FIGURES))
    left_out: int = 0
    illustrated: bool = True


@dataclass
class CompressionView:
    ident: str
    field: compression.Field
    lead: str
    rest: str
    figure: Figure | None
    costs: list
    wires: list


@dataclass
class RunView:
    ident: str
    result: object
    started: str
    banners: list
    sections: list
    calibrations: list
    costs: list
    environment: list
    config: str
    compression: list = field(default_factory=list)
    simulation: object = None
    sections_left_out: int = 0


def build(results, most_sections=MOST_SECTIONS_WITH_FIGURES, errors=None):
    """The whole page as text. Deterministic: the same results give the same bytes.

    `errors`: the errors of prediction (prediction_error.Errors) that simulated times may have.
    """
    left = most_sections
    runs = []
    for index, result in enumerate(results):
        run = _run(result, f"r{index + 1}", left, errors)
        left -= sum(view.illustrated for view in run.sections)
        runs.append(run)
    filters = {
        "duration": units.duration, "percent": units.percent, "size": units.size, "plural": units.plural
    }
    return render(
        "page.html.j2", filters, runs=runs, most_rows=MOST_ROWS_IN_A_FIGURE, DASH=units.DASH
    )


def _run(result, ident, left, errors):
    views = []
    found = metrics.settings(result)
    shown = found if not result.simulated or len(found) <= MOST_SIMULATED_SECTIONS else []
    for index, cases in enumerate(shown):
        section = metrics.section(cases, result.simulated)
        illustrated = len(views) < left
        views.append(_section(section, f"{ident}s{index + 1}", illustrated))
    return RunView(
        ident=ident,
        result=result,
        started=tables.moment(result.started),
        banners=words.banners(result),
        sections=views,
        calibrations=_calibrations(result, ident),
        costs=tables.given_costs(result),
        environment=tables.flatten(result.environment),
        config=json.dumps(result.config, indent=2, ensure_ascii=False),
        compression=[
            _compression(one, f"{ident}c{index + 1}")
            for index, one in enumerate(compression.fields(result))
        ],
        simulation=simulation.view(result, ident, errors) if result.simulated else None,
        sections_left_out=len(found) - len(shown),
    )


def _compression(one, ident):
    figure = None
    if compressing.drawable(one):
        figure = Figure(
            renditions=canvas.renditions(compressing, one, f"{ident}-bars", canvas.WIDE),
            legend=compressing.legend(one),
            is_cut=compressing.is_cut(one),
        )
    said, rest = compression.lead(one)
    return CompressionView(
        ident, one, said, rest, figure, compression.cost_rows(one), compression.wire_rows(one)
    )


def _section(section, ident, illustrated):
    lead, rest = words.headline(section)
    unit = tables.unit_of(section)
    view = SectionView(
        ident=ident,
        section=section,
        lead=lead,
        rest=rest,
        tiles=tables.tiles(section),
        ranking=tables.ranking(section, unit),
        unit=unit[0],
        reasons=words.reasons(section),
        observation=words.observation(section),
        plans=tables.plans(section),
        contradictions=[
            (row.name, text) for row in section.rows for text in metrics.contradictions(row.case)
        ],
        emulated=any("link_emulated" in r.case.flags or r.case.link for r in section.rows),
        measured=any(r.case.spans for r in section.timed),
        probes=tables.probes(section),
        illustrated=illustrated,
    )
    if illustrated:
        view.left_out = max(0, len(section.timed) - MOST_ROWS_IN_A_FIGURE)
        view.figures = {name: _figure(name, section, ident) for name in _FIGURES}
    return view


def _figure(name, section, ident):
    """A figure of the section, or None where it has nothing to show."""
    module, size = _FIGURES[name]
    rows = module.drawable(_rows_of(name, section))
    if not rows:
        return None
    return Figure(
        renditions=canvas.renditions(module, rows, f"{ident}-{name}", size),
        legend=module.legend(rows) if hasattr(module, "legend") else [],
        is_cut=hasattr(module, "is_cut") and module.is_cut(rows),
    )


def _rows_of(name, section):
    """The timed rows; the timeline shows predictions where no row is timed."""
    timed = [] if section.simulated and name != "timeline" else section.timed
    if name == "timeline" and not timed:
        timed = [r for r in section.rows if r.case.status != "failed"]
    return timed[:MOST_ROWS_IN_A_FIGURE]


def _calibrations(result, ident):
    """Calibrations with their figures; the same one under several profiles is shown once."""
    by_content = {}
    for calibration in result.calibrations:
        key = (calibration.collective, calibration.variant, calibration.points, calibration.fit)
        by_content.setdefault(key, []).append(calibration)
    views = []
    for index, same in enumerate(by_content.values()):
        calibration = same[0]
        figure = None
        if fit.drawable(calibration) and index < MOST_SECTIONS_WITH_FIGURES:
            figure = canvas.renditions(fit, calibration, f"{ident}-fit{index + 1}", canvas.HALF)
        profiles = [c.profile or units.DASH for c in same]
        views.append((profiles, calibration, tables.fit_facts(calibration), figure))
    return views
