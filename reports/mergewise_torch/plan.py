# SPDX-License-Identifier: Apache-2.0
"""A merge plan as groups of parameter names, read from what `mergewise plan` writes."""

import json
from pathlib import Path
from typing import NamedTuple, Tuple

SCHEMA = "mergewise/plan/1"


class PlanError(ValueError):
    """A plan that cannot be used; the message is one sentence for the user."""


class Plan(NamedTuple):
    """Groups of names, in the order in which they are sent."""

    groups: Tuple[Tuple[str, ...], ...]
    source: str = "the plan"  # what messages call it


def load_plan(path):
    """Reads a plan file. Throws PlanError: unreadable, not JSON, not this schema, not usable here."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise PlanError(f"{path}: cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise PlanError(f"{path}: is not valid JSON: {error}") from None
    return plan_from(document, str(path))


def plan_from(document, source="the plan"):
    """The plan of a parsed document. Throws PlanError."""

    def need(holds, message):
        if not holds:
            raise PlanError(f"{source}: {message}")

    need(isinstance(document, dict), "is no plan: expected a JSON object")
    schema = document.get("schema")
    need(schema == SCHEMA, f'schema is {schema!r}, but this module reads only "{SCHEMA}"')
    names, ends = document.get("tensors"), document.get("groups")
    need(names is not None, "has no tensor names: write it with `mergewise plan --output FILE`")
    need(_is_list(names, str), "'tensors' must be a list of names")
    need(_is_list(ends, int), "'groups' must be a list of numbers, the tensors covered at the end of each group")
    _check_sending(document, need)
    rising = all(first < second for first, second in zip([0] + ends, ends))
    need(
        rising and ends and ends[-1] == len(names),
        f"the ends of the groups must rise to the number of tensors, {len(names)}, but are {_shown(ends)}",
    )
    return Plan(tuple(tuple(names[a:b]) for a, b in zip([0] + ends, ends)), source)


def _is_list(value, kind):
    return isinstance(value, list) and all(isinstance(v, kind) and not isinstance(v, bool) for v in value)


def _check_sending(document, need):
    """Only what this module does: an all-reduce for each group, sent when it is ready."""
    strategy = document.get("strategy", "")
    need(
        "sends" not in document and "chunking" not in document,
        f"the plan of {strategy!r} sends groups at times of their own or in pieces; "
        "only groups that are all-reduced when they are ready can be applied",
    )
    collective = document.get("collective", "all_reduce")
    need(collective == "all_reduce", f"its groups use {collective!r}, but only all_reduce can be applied")


def _shown(ends):
    return ", ".join(map(str, ends[:8])) + (", ..." if len(ends) > 8 else "") or "none"
