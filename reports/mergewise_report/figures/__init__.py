# SPDX-License-Identifier: Apache-2.0
"""The figures: each module has draw(...) -> matplotlib Figure and describe(...) -> alt text."""
