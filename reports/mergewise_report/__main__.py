# SPDX-License-Identifier: Apache-2.0
"""`python -m mergewise_report` is the same as `mergewise-report`."""

import sys

from mergewise_report.cli import main

sys.exit(main())
