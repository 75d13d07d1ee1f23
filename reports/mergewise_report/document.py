# SPDX-License-Identifier: Apache-2.0
"""A JSON document read with the path of every value at hand, so that an error can name it."""

import json
import math
import re

# What neither XML nor a page can show: control characters and lone surrogates.
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


class ResultError(Exception):
    """A result file that cannot be used; the message is one sentence for the user."""


def _clean(value):
    if isinstance(value, str):
        return _UNPRINTABLE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    return value


def _refuse_constant(name):
    raise ValueError(f"it contains {name}, which JSON does not have; use null")


def parse(text, file):
    """The document in `text` as a Node. Throws ResultError when it is not JSON."""
    try:
        return Node(_clean(json.loads(text, parse_constant=_refuse_constant)), "", file)
    except RecursionError:
        raise ResultError(f"{file}: is nested too deeply to be a result") from None
    except json.JSONDecodeError as error:
        raise ResultError(
            f"{file}:{error.lineno}:{error.colno}: is not valid JSON: {error.msg}"
        ) from None
    except ValueError as error:
        raise ResultError(f"{file}: is not valid JSON: {error}") from None


def _kind(value):
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return f"the number {value}"
    if isinstance(value, str):
        return f"the text {json.dumps(value[:40], ensure_ascii=False)}"
    return "a list" if isinstance(value, list) else "an object"


class Node:
    """One value of the document with its path (`cases[3].summary.median_ns`)."""

    def __init__(self, value, path, file):
        self.value = value
        self.path = path
        self.file = file

    def fail(self, message):
        where = f"{self.file}: {self.path or 'the document'}"
        raise ResultError(f"{where} {message}")

    def _must_be(self, expected):
        self.fail(f"must be {expected}, but is {_kind(self.value)}")

    def __getitem__(self, key):
        """A required member; it may be null."""
        if not isinstance(self.value, dict):
            self._must_be("an object")
        path = f"{self.path}.{key}" if self.path else key
        if key not in self.value:
            Node(None, path, self.file).fail("is missing; every result of this schema has it")
        return Node(self.value[key], path, self.file)

    def get(self, key):
        """A member that may also be missing, which counts as null."""
        if isinstance(self.value, dict) and key not in self.value:
            return Node(None, f"{self.path}.{key}", self.file)
        return self[key]

    def is_null(self):
        return self.value is None

    def items(self):
        """The elements of a list; null counts as empty."""
        if self.value is None:
            return []
        if not isinstance(self.value, list):
            self._must_be("a list")
        return [Node(v, f"{self.path}[{i}]", self.file) for i, v in enumerate(self.value)]

    def members(self):
        """The members of an object as (key, Node); null counts as empty."""
        if self.value is None:
            return []
        if not isinstance(self.value, dict):
            self._must_be("an object")
        return [(k, Node(v, f"{self.path}.{k}", self.file)) for k, v in self.value.items()]

    def number(self):
        """A finite number, or None for null."""
        if self.value is None:
            return None
        if isinstance(self.value, bool) or not isinstance(self.value, (int, float)):
            self._must_be("a number or null")
        try:
            finite = math.isfinite(self.value)
        except OverflowError:
            finite = False
        if not finite:
            self.fail("is too large a number")
        return self.value

    def whole(self):
        """A whole number, or None for null."""
        value = self.number()
        if value is not None and value != int(value):
            self._must_be("a whole number or null")
        return None if value is None else int(value)

    def text(self, default=""):
        if self.value is None:
            return default
        if not isinstance(self.value, str):
            self._must_be("a text or null")
        return self.value

    def required_text(self):
        if not isinstance(self.value, str) or not self.value:
            self._must_be("a text that is not empty")
        return self.value

    def flag(self):
        """true or false; null counts as false."""
        if self.value is not None and not isinstance(self.value, bool):
            self._must_be("true or false")
        return bool(self.value)
