# SPDX-License-Identifier: Apache-2.0
"""Makes this folder's modules importable whatever pytest's import mode."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
