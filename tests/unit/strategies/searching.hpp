// SPDX-License-Identifier: Apache-2.0
// Evaluators for tests of the strategies that search.
#pragma once

#include "bench/plan/timeline.hpp"
#include "bench/strategies/strategy.hpp"

#include <cstddef>
#include <functional>
#include <set>
#include <utility>
#include <vector>

namespace mergewise::test {

/// Answers by a function of the group ends, and keeps what it was asked.
class Asked final : public PlanEvaluator {
 public:
  using Answer = std::function<Nanoseconds(const std::vector<std::size_t>&)>;
  explicit Asked(Answer answer, double noise = 0) : answer_(std::move(answer)), noise_(noise) {}
  explicit Asked(const TimeModel& model)
      : Asked([&model](const std::vector<std::size_t>& ends) {
          return predict_iteration(model, ends);
        }) {}

  Nanoseconds iteration(const std::vector<std::size_t>& ends) override {
    repeated = repeated || !seen_.insert(ends).second;
    asked.push_back(ends);
    return answer_(ends);
  }
  [[nodiscard]] double noise() const override { return noise_; }

  std::vector<std::vector<std::size_t>> asked;
  bool repeated = false;  ///< some plan was asked for twice

 private:
  Answer answer_;
  double noise_;
  std::set<std::vector<std::size_t>> seen_;
};

}  // namespace mergewise::test
