// SPDX-License-Identifier: Apache-2.0
// When a measurement is warm and when it is done.
#pragma once

#include "bench/stats/summary.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mergewise {

/// Warm-up: until the medians of two successive blocks agree within `tolerance`, at least
/// `min_blocks`, at most `max_blocks`; then it is over, and unstable if they never agreed.
struct WarmupRule {
  double tolerance = 0.01;
  int min_blocks = 3;
  int max_blocks = 6;
};
enum class Warmup { kGoOn, kStable, kUnstable };
[[nodiscard]] Warmup judge_warmup(const WarmupRule& rule, std::span<const double> block_medians);

/// Measuring: until the relative half width of the median's interval is at most `target` (from
/// `min_iterations` on), or `max_iterations`.
struct StoppingRule {
  double target = 0.02;
  int min_iterations = 10;
  int max_iterations = 50;
};
enum class Stop { kGoOn, kTarget, kMaximum };
[[nodiscard]] const char* name_of(Stop stop);  ///< "go_on", "target", "max"
[[nodiscard]] Stop judge_stop(const StoppingRule& rule, std::span<const double> samples,
                              std::size_t block, std::uint64_t seed);

}  // namespace mergewise
