// SPDX-License-Identifier: Apache-2.0
// What a replay measures, as plain data: spans, the breakdown of an iteration, calibration points.
#pragma once

#include "bench/core/units.hpp"
#include "bench/plan/timeline.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace mergewise {

/// A measured span of one iteration, counted from that iteration's start on the same rank.
struct MeasuredSpan {
  int rank = 0;
  Lane lane = Lane::kCompute;
  std::string activity;  ///< "forward", "backward", "pack", "transfer", "wait", "unpack"
  std::size_t group = 0;
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
};

/// Where the time of an iteration went (means over the span pass, mean over ranks); the labels sum
/// to the iteration.
struct Breakdown {
  std::vector<std::pair<std::string, Nanoseconds>>
      labels_ns;                 ///< compute, pack, update, transfer, wait, idle
  Nanoseconds iteration_ns = 0;  ///< mean iteration of the span pass
  Nanoseconds busy_ns = 0;       ///< union of communication spans
  Nanoseconds exposed_ns = 0;    ///< busy minus compute spans
  Nanoseconds hidden_ns = 0;     ///< busy - exposed
  Nanoseconds observer_ns = 0;   ///< median of the span pass minus median of the headline pass
  Nanoseconds clock_error_ns =
      0;  ///< bound of the clocks' error across ranks: wait and transfer are known to this
};

/// A plan that a search tried, and what an iteration under it was measured to take.
struct Probe {
  std::vector<std::size_t> ends;  ///< MergePlan::ends()
  Nanoseconds iteration_ns = 0;
};

/// What compressed iterations sent.
struct MessageTotals {
  std::int64_t iterations = 0;
  std::uint64_t bytes = 0;       ///< of the messages
  std::uint64_t nans = 0;        ///< elements compressed that were no number
  std::uint64_t infinities = 0;  ///< that were infinite
};

/// One point of a calibration: robust statistics of the collective at a size.
struct CalibrationPoint {
  Bytes bytes = 0;
  Nanoseconds ns = 0;  ///< what the profile uses: the median over rounds, each a mean
  Nanoseconds low_ns = 0;
  Nanoseconds high_ns = 0;
  int repetitions = 0;
};

}  // namespace mergewise
