# SPDX-License-Identifier: Apache-2.0
"""Fixtures: sample documents, and pages made from them once a session."""

import copy
import json
import sys
from pathlib import Path

import pytest

# This checkout's package, not one that is installed.
sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parent)]

import sample_results  # noqa: E402
import sample_simulation  # noqa: E402

from mergewise_report.document import Node, parse  # noqa: E402
from mergewise_report.page import build  # noqa: E402
from mergewise_report.results import result_from  # noqa: E402

_QUICKSTART = sample_results.make_result()


@pytest.fixture
def document():
    """A complete result of five cases; the test may change it."""
    return copy.deepcopy(_QUICKSTART)


@pytest.fixture(scope="session")
def read():
    """A document as a checked Result, by way of its JSON text."""
    return lambda value: result_from(parse(json.dumps(value), "result.json"))


@pytest.fixture(scope="session")
def page_of(read):
    return lambda *documents: build([read(d) for d in documents])


@pytest.fixture(scope="session")
def quickstart_page(page_of):
    return page_of(_QUICKSTART)


@pytest.fixture(scope="session")
def troubled_page(page_of):
    return page_of(sample_results.troubled())


@pytest.fixture(scope="session")
def swept_page(page_of):
    """A page of bandwidths and ranks, dense and compressed."""
    return page_of(sample_simulation.break_even(("resnet50",), 4, 3, ("none", "topk")))


@pytest.fixture
def node():
    return lambda value: Node(value, "", "result.json")
