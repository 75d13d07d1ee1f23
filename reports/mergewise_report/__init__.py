# SPDX-License-Identifier: Apache-2.0
"""HTML reports from Mergewise result files (schema mergewise/result/1)."""
