// SPDX-License-Identifier: Apache-2.0
// The judge of a search over plans in `run`: each plan is replayed.
#pragma once

#include "bench/replay/race.hpp"
#include "bench/strategies/strategy.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace mergewise {

/// Answers are equal on all ranks, and so are the decisions made from them. A plan that could not
/// be measured (see Race) takes for ever. Ranks must ask alike.
class MeasuredEvaluator final : public PlanEvaluator {
 public:
  MeasuredEvaluator(Race& race, std::string strategy, Collective collective)
      : race_(race), strategy_(std::move(strategy)), collective_(collective) {}
  [[nodiscard]] Nanoseconds iteration(const std::vector<std::size_t>& ends) override;
  [[nodiscard]] double noise() const override;

 private:
  Race& race_;
  std::string strategy_;
  Collective collective_;
};

}  // namespace mergewise
