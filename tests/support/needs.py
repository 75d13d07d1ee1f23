# SPDX-License-Identifier: Apache-2.0
"""What tests do where the machine lacks what they need."""

import os
from pathlib import Path
from typing import NoReturn

import pytest

# The distribution's, which python3-torchvision is for.
TORCH_PYTHON = os.environ.get("MERGEWISE_TORCH_PYTHON", "/usr/bin/python3")


def skip_or_fail(reason: str) -> NoReturn:
    """Skips with the reason; where continuous integration runs (CI is set), nothing may be left out in silence."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


def reference_or_skip(*files: str) -> Path:
    """The folder of published measurements, which are part of no checkout, so that continuous integration may lack them
    too: MERGEWISE_REFERENCE, else ../shared/reference. Skips with the reason where a file is missing."""
    beside = Path(__file__).resolve().parents[2].parent / "shared/reference"
    folder = Path(os.environ.get("MERGEWISE_REFERENCE") or beside)
    for file in files:
        if not (folder / file).is_file():
            pytest.skip(f"published measurements: no {folder / file}: set MERGEWISE_REFERENCE")
    return folder
