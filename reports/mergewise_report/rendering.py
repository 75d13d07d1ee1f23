# SPDX-License-Identifier: Apache-2.0
"""Turns this package's templates into pages: the same settings and the same style for all of them."""

from importlib import resources

import jinja2
from markupsafe import Markup


def render(template, filters=None, **values):
    """The page of a template, with the values and the style sheet (`css`); a value that is missing is an error."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("mergewise_report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(filters or {})
    css = resources.files("mergewise_report").joinpath("templates/report.css").read_text("utf-8")
    return environment.get_template(template).render(css=Markup(css), **values)
