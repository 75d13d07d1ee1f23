# SPDX-License-Identifier: Apache-2.0
"""The page of the papers reproduced: `python -m mergewise_report.reproduction reproduce.json -o report.html`.

Reads what `mergewise reproduce PAPER --out reproduce.json` wrote. Exit codes: 0 fine, 2 bad input or no place to write.
"""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

from mergewise_report.cli import write_atomically
from mergewise_report.document import Node, ResultError, parse
from mergewise_report.rendering import render
from mergewise_report.units import DASH, MINUS

SCHEMA = "mergewise/reproduction/1"
_MOST_DIGITS = 12


@dataclass
class Column:
    name: str
    unit: str
    digits: int
    is_number: bool  # all its cells are numbers or missing


@dataclass
class Table:
    title: str
    columns: list[Column]
    rows: list[list[str]]
    notes: list[str]
    is_long: bool


@dataclass
class Claim:
    what: str
    claimed: str
    ours: str
    difference: str
    cause: str


@dataclass
class Paper:
    ident: str
    title: str
    source: str
    assumptions: list[str]
    claims: list[Claim]
    tables: list[Table]
    not_run: list[str]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m mergewise_report.reproduction",
        description="One HTML page of papers' claims beside what Mergewise gets.",
    )
    parser.add_argument("results", metavar="REPRODUCTION", help="the file of `mergewise reproduce --out`")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="the page to write")
    options = parser.parse_args(arguments)
    try:
        write_atomically(Path(options.output), build(load(options.results)))
    except ResultError as error:
        print(f"mergewise-report: {error}", file=sys.stderr)
        return 2
    return 0


def load(path: str | Path) -> list[Paper]:
    """The papers of a file; ResultError names the place of what is wrong with it."""
    try:
        text = Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ResultError(f"{path}: cannot be read: {error}") from None
    root = parse(text, str(path))
    schema = root["schema"]
    if schema.required_text() != SCHEMA:
        schema.fail(f"is {schema.value!r}, but this page is made from {SCHEMA}")
    return [_paper(node) for node in root["papers"].items()]


def build(papers: list[Paper]) -> str:
    """The whole page as text. Deterministic: the same papers give the same bytes."""
    return render("reproduction.html.j2", papers=papers)


def _paper(node: Node) -> Paper:
    return Paper(
        ident=node["id"].required_text(),
        title=node["title"].required_text(),
        source=node["source"].text(),
        assumptions=_texts(node["assumptions"]),
        claims=[_claim(claim) for claim in node["claims"].items()],
        tables=[_table(table) for table in node["tables"].items()],
        not_run=_texts(node["not_run"]),
    )


def _texts(node: Node) -> list[str]:
    return [item.required_text() for item in node.items()]


def _claim(node: Node) -> Claim:
    return Claim(*(node[key].text() for key in ("what", "claimed", "ours", "difference", "cause")))


def _table(node: Node) -> Table:
    rows = [row.items() for row in node["rows"].items()]
    columns = []
    for index, column in enumerate(node["columns"].items()):
        digits = column["digits"].whole() or 0
        if not 0 <= digits <= _MOST_DIGITS:
            column["digits"].fail(f"must be 0 to {_MOST_DIGITS}")
        cells = [row[index].value for row in rows if index < len(row)]
        columns.append(
            Column(
                name=column["name"].required_text(),
                unit=column["unit"].text(),
                digits=digits,
                is_number=bool(cells) and not any(isinstance(cell, str) for cell in cells),
            )
        )
    for row, cells in zip(node["rows"].items(), rows, strict=True):
        if len(cells) != len(columns):
            row.fail(f"has {len(cells)} cells for {len(columns)} columns")
    return Table(
        title=node["title"].required_text(),
        columns=columns,
        rows=[[_cell(cell, column) for cell, column in zip(row, columns, strict=True)] for row in rows],
        notes=_texts(node["notes"]),
        is_long=node["detail"].flag(),
    )


def _cell(node: Node, column: Column) -> str:
    if isinstance(node.value, str):
        return node.value or DASH
    number = node.number()
    if number is None:
        return DASH
    text = f"{number:.{column.digits}f}"
    negative = text.startswith("-") and float(text) != 0
    return (MINUS if negative else "") + text.lstrip("-")


if __name__ == "__main__":
    sys.exit(main())
