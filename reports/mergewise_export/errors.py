# SPDX-License-Identifier: Apache-2.0
"""What goes wrong, as one sentence each, and how another's exception is told in one."""

from contextlib import contextmanager


class ExportError(Exception):
    """A sentence for the user; `code` is the exit code."""

    code = 2


class UsageError(ExportError):
    """What was asked for cannot be: an unknown module, a bad value, a model we cannot measure."""


class PassError(ExportError):
    """A training pass failed, or its measurement came to nothing."""

    code = 3


@contextmanager
def told_as(kind, what):
    """Turns what another's code raises into `kind`: "WHAT failed: TYPE: first line"."""
    try:
        yield
    except ExportError:
        raise
    except Exception as error:
        raise kind(f"{what} failed: {describe(error)}") from error
    except SystemExit as error:
        raise kind(
            f"{what} ended the program ({describe(error)}); code that runs as a script belongs under "
            'if __name__ == "__main__":'
        ) from error


def describe(error):
    """The exception's type and the first line of its message that says something."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def some(names, most=5):
    """The first few names: "a, b and 3 more"."""
    names = list(names)
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
