// SPDX-License-Identifier: Apache-2.0
// The best single size cap: DDP's rule with the cap that suits this model, network and compressor.
#pragma once

#include "bench/strategies/strategy.hpp"

#include <cstddef>
#include <string>

namespace mergewise {

/// From so many tensors on, only caps a tenth apart are tried.
inline constexpr std::size_t kManyTensors = 5000;

/// What tuning DDP's bucket_cap_mb by hand could reach: DDP's rule with one cap for all buckets.
/// Tries every cap that gives a plan of its own in the model; the best three are confirmed by the
/// evaluator. O(plans x groups x log L).
class Tuned final : public Strategy {
 private:
  [[nodiscard]] std::string do_id() const override { return "tuned"; }
  [[nodiscard]] std::string do_summary() const override {
    return "the best single size cap for this model, network and compressor";
  }
  [[nodiscard]] bool do_searches() const override { return true; }
  [[nodiscard]] MergePlan do_plan(const Task& task) const override;
};

}  // namespace mergewise
