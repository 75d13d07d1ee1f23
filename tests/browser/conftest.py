# SPDX-License-Identifier: Apache-2.0
"""Makes this folder's modules and needs.py importable whatever pytest's import mode."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "support")]
