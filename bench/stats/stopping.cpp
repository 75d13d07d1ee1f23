// SPDX-License-Identifier: Apache-2.0
#include "bench/stats/stopping.hpp"

#include "bench/core/median.hpp"

#include <cmath>

namespace mergewise {

Warmup judge_warmup(const WarmupRule& rule, std::span<const double> block_medians) {
  const std::size_t count = block_medians.size();
  if (count >= 2 && count >= static_cast<std::size_t>(rule.min_blocks)) {
    const double before = block_medians[count - 2];
    const double last = block_medians[count - 1];
    if (std::abs(last - before) <= rule.tolerance * before) return Warmup::kStable;
  }
  return count >= static_cast<std::size_t>(rule.max_blocks) ? Warmup::kUnstable : Warmup::kGoOn;
}

const char* name_of(Stop stop) {
  switch (stop) {
    case Stop::kGoOn:
      return "go_on";
    case Stop::kTarget:
      return "target";
    case Stop::kMaximum:
      return "max";
  }
  return "unknown";
}

Stop judge_stop(const StoppingRule& rule, std::span<const double> samples, std::size_t block,
                std::uint64_t seed) {
  const bool may_judge =
      !samples.empty() && samples.size() >= static_cast<std::size_t>(rule.min_iterations);
  if (may_judge) {
    const Interval interval = bootstrap_median(samples, block, seed);
    if (relative_half_width(interval, median(samples)) <= rule.target) return Stop::kTarget;
  }
  const bool exhausted = samples.size() >= static_cast<std::size_t>(rule.max_iterations);
  return exhausted ? Stop::kMaximum : Stop::kGoOn;
}

}  // namespace mergewise
