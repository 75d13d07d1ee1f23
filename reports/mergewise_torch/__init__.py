# SPDX-License-Identifier: Apache-2.0
"""Applies a merge plan (mergewise/plan/1) to a PyTorch model: one all-reduce for each group of gradients.

Needs torch 1.13 or later and nothing else; described in docs/torch.md.
"""

from mergewise_torch.merged import MergedAllReduce, UnusedParameterError
from mergewise_torch.plan import Plan, PlanError, load_plan

__all__ = ["MergedAllReduce", "Plan", "PlanError", "UnusedParameterError", "load_plan"]
