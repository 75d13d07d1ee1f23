# SPDX-License-Identifier: Apache-2.0
"""What tests do where the machine lacks what they need."""

import os
from typing import NoReturn

import pytest

# The distribution's, which python3-torchvision is for.
TORCH_PYTHON = os.environ.get("MERGEWISE_TORCH_PYTHON", "/usr/bin/python3")


def skip_or_fail(reason: str) -> NoReturn:
    """Skips with the reason; where continuous integration runs (CI is set), nothing may be left out in silence."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
