# SPDX-License-Identifier: Apache-2.0
"""The command `mergewise-report`. Exit codes: 0 fine, 2 bad input, bad usage or no place to write."""

import argparse
import os
import sys
import tempfile
from pathlib import Path

from mergewise_report.document import ResultError
from mergewise_report.prediction_error import errors_of
from mergewise_report.results import load


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="mergewise-report", description="Reports from Mergewise result files."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    html = commands.add_parser(
        "html",
        help="one self-contained HTML page",
        description="Writes one HTML page that needs "
        "nothing else: no network, no scripts. Several results become sections of one report.",
    )
    html.add_argument("results", nargs="+", metavar="RESULT", help="result.json of `mergewise run`")
    html.add_argument(
        "--measured",
        nargs="+",
        default=[],
        metavar="RESULT",
        help="measured results whose errors of prediction the curves of simulated ones carry over",
    )
    html.add_argument("-o", "--output", required=True, metavar="FILE", help="the page to write")
    options = parser.parse_args(arguments)
    try:
        return _html(options)
    except ResultError as error:
        print(f"mergewise-report: {error}", file=sys.stderr)
        return 2


def _html(options):
    results = [load(path) for path in options.results]
    errors = _errors(results, options.measured)
    from mergewise_report.page import build  # matplotlib takes a second; errors should not wait

    write_atomically(Path(options.output), build(results, errors=errors))
    return 0


def _errors(results, paths):
    """The errors of prediction of measured results, or None where no files were given."""
    if not paths:
        return None
    if not any(result.simulated for result in results):
        raise ResultError("--measured is for simulated results, but none of these is simulated")
    return errors_of([load(path) for path in paths])


def write_atomically(path, text):
    """All of the file or nothing of it: a temporary neighbour, then a rename."""
    name = None
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as file:
            name = file.name
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
    except OSError as error:
        if name is not None:
            Path(name).unlink(missing_ok=True)
        raise ResultError(f"{path}: cannot be written: {error.strerror or error}") from None


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask
