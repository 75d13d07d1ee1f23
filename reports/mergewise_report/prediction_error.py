# SPDX-License-Identifier: Apache-2.0
"""How far predictions were from measurements, and what that means for times only predicted.

Pure functions of measured results; the error of a case is predicted / median - 1.
"""

from dataclasses import dataclass

import numpy as np

from mergewise_report.document import ResultError
from mergewise_report.metrics import is_timed

# With fewer cases a quantile says nothing that the least and the largest do not.
FEWEST_FOR_QUANTILES = 10
FEWEST_OF_A_STRATEGY = 5
QUANTILES = (10, 90)


@dataclass(frozen=True)
class Band:
    """The errors that most measured cases lie between."""

    low: float
    high: float
    count: int
    strategy: str  # "" when it is that of all strategies together

    def around(self, predicted_ns):
        """Least and largest time that a prediction may stand for: predicted / (1 + error)."""
        return predicted_ns / (1 + self.high), predicted_ns / (1 + self.low)


@dataclass(frozen=True)
class Errors:
    """The bands by strategy, where it has cases enough, and over all."""

    over_all: Band
    by_strategy: dict
    machine_bound: int  # cases left out, because the machine was measured, not the network
    emulated: int  # cases over an emulated link
    ranks: tuple[int, ...]

    def of(self, strategy):
        return self.by_strategy.get(strategy, self.over_all)


def errors_of(results):
    """The errors of measured results. Throws ResultError where there is nothing to learn from."""
    for result in results:
        if result.simulated:
            raise ResultError(f"{result.file}: is simulated; --measured takes measured results")
    found = [c for r in results for c in r.cases if is_timed(c) and _usable(c.prediction_error)]
    bound = [c for c in found if "machine_bound" in c.flags]
    found = [c for c in found if "machine_bound" not in c.flags]
    if not found:
        files = ", ".join(r.file for r in results)
        left = f" but {len(bound)} that are machine-bound" if bound else ""
        raise ResultError(f"{files}: no measured case with a prediction{left}, so no error to carry over")
    by_strategy = {}
    for case in found:
        by_strategy.setdefault(case.strategy, []).append(case.prediction_error)
    return Errors(
        over_all=band([c.prediction_error for c in found]),
        by_strategy={
            name: band(errors, name)
            for name, errors in by_strategy.items()
            if len(errors) >= FEWEST_OF_A_STRATEGY
        },
        machine_bound=len(bound),
        emulated=sum(c.link is not None or "link_emulated" in c.flags for c in found),
        ranks=tuple(sorted({c.ranks for c in found if c.ranks})),
    )


def _usable(error):
    return error is not None and error > -1


def band(errors, strategy=""):
    """The 10 % and 90 % quantiles of the errors; of few, the least and the largest."""
    ends = (0, 100) if len(errors) < FEWEST_FOR_QUANTILES else QUANTILES
    low, high = np.percentile(errors, ends)
    return Band(float(low), float(high), len(errors), strategy)
