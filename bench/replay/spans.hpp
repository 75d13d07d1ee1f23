// SPDX-License-Identifier: Apache-2.0
// From the stamps of all ranks to spans and to the breakdown of an iteration: pure functions.
#pragma once

#include "bench/collective/control_plane.hpp"
#include "bench/replay/measurement.hpp"
#include "bench/replay/replayer.hpp"

#include <string>
#include <vector>

namespace mergewise {

/// One rank's span pass and its clock against rank 0's before and after it.
struct RankStamps {
  int rank = 0;
  ClockSample before;
  ClockSample after;
  std::vector<IterationStamps> iterations;
};

/// As bytes for the control plane, and back.
[[nodiscard]] std::string encode(const RankStamps& stamps);
[[nodiscard]] RankStamps decode(std::string_view bytes);

struct SpanSummary {
  Breakdown breakdown;              ///< mean over ranks and iterations; observer_ns is left 0
  std::vector<MeasuredSpan> spans;  ///< of all ranks, of the iteration of median length
  std::vector<Nanoseconds> iterations_ns;  ///< per iteration the maximum over ranks
};

/// `ranks` all hold the same iterations and spans but for the stamps. The first iteration of a
/// block starts from a barrier and is left out when there are more. A collective waits until its
/// last rank arrived (on rank 0's clock, linear drift between the two samples) and transfers from
/// then on.
[[nodiscard]] SpanSummary summarize_spans(const std::vector<RankStamps>& ranks);

}  // namespace mergewise
