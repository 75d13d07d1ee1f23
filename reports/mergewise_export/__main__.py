# SPDX-License-Identifier: Apache-2.0
"""`python -m mergewise_export` is the same as `mergewise-export`."""

import sys

from mergewise_export.cli import main

sys.exit(main())
