# SPDX-License-Identifier: Apache-2.0
"""Numbers as a reader wants them: durations, bytes, percentages. None becomes a dash everywhere."""

import math

DASH = "–"
MINUS = "−"
NBSP = "\u00a0"

_TIME_UNITS = (("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9))


def number(value, digits=3, largest_decimals=3):
    """`value` with `digits` significant digits, never in exponent form: 412, 41.2, 4.12."""
    if value is None or not math.isfinite(value):
        return DASH
    magnitude = abs(value)
    if magnitude == 0:
        return "0"
    before = math.floor(math.log10(magnitude)) + 1
    decimals = min(largest_decimals, max(0, digits - before))
    text = f"{magnitude:,.{decimals}f}"
    if value < 0 and any(c in "123456789" for c in text):
        text = MINUS + text
    return text


def time_unit(ns):
    """The unit, as (name, nanoseconds), in which a duration of this size reads well."""
    magnitude = abs(ns or 0)
    if magnitude >= 10e9:
        return _TIME_UNITS[3]
    if magnitude >= 1e6 or magnitude == 0:
        return _TIME_UNITS[2]
    return _TIME_UNITS[1] if magnitude >= 1e3 else _TIME_UNITS[0]


def in_unit(ns, unit, digits=4):
    """A duration as a bare number of `unit`, for table columns and axes."""
    return DASH if ns is None else number(ns / unit[1], digits)


def duration(ns, digits=3, unit=None):
    """A duration with its unit: 412 ms."""
    if ns is None or not math.isfinite(ns):
        return DASH
    unit = unit or time_unit(ns)
    return number(ns / unit[1], digits) + NBSP + unit[0]


def percent(share, signed=False):
    """A share as a percentage: 0.183 is 18 %, 0.031 is 3.1 %."""
    if share is None or not math.isfinite(share):
        return DASH
    value = 100 * share
    if abs(value) < 0.05:
        return "0" + NBSP + "%"
    text = number(abs(value), 2 if abs(value) < 9.95 else 3, 0 if abs(value) >= 9.95 else 1)
    sign = MINUS if value < 0 else ("+" if signed else "")
    return sign + text + NBSP + "%"


def axis_percent(share):
    """A share on an axis: +5 %, 0, -10 %, with no digit more than needed."""
    if abs(share) < 1e-9:
        return "0"
    return ("+" if share > 0 else MINUS) + f"{100 * abs(share):.3g}" + NBSP + "%"


def between(low, high, digits=3, unit=None):
    """A range with its unit said once: 412 to 415 ms; one duration if both read the same."""
    unit = unit or time_unit(low)
    first, last = in_unit(low, unit, digits), in_unit(high, unit, digits)
    text = last if first == last else f"{first} to {last}"
    return text + NBSP + unit[0]


def size(count):
    """Bytes in decimal units, 1 MB = 1e6 bytes."""
    if count is None:
        return DASH
    for name, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if abs(count) >= scale:
            return number(count / scale) + NBSP + name
    return number(count, 3, 0) + NBSP + "B"


def binary_size(count):
    """Bytes in binary units where they come out even (25 MiB), else as size()."""
    for name, scale in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if isinstance(count, int) and scale <= count < 1024 * scale and count % scale == 0:
            return f"{count // scale}{NBSP}{name}"
    return size(count)


def plural(count, noun, many=None):
    """`1 rank`, `4 ranks`."""
    return f"{count:,}{NBSP}{noun if count == 1 else (many or noun + 's')}"


def shorten(text, length):
    """At most `length` characters, the cut marked by an ellipsis."""
    return text if len(text) <= length else text[: max(1, length - 1)] + "…"


def join_words(parts):
    """`a`, `a and b`, `a, b and c`."""
    parts = list(parts)
    if len(parts) < 2:
        return "".join(parts)
    return ", ".join(parts[:-1]) + " and " + parts[-1]
