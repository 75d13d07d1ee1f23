// SPDX-License-Identifier: Apache-2.0
// The exact minimum of the time model among all plans that merge consecutive tensors.
#pragma once

#include "bench/cost/cost_model.hpp"
#include "bench/strategies/strategy.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace mergewise {

/// Dynamic programming over the prefixes of the tensors (docs/strategies.md). Where only transfers
/// cost: over the earliest end of all communication, O(L) time for a linear cost of dense
/// gradients, O(L^2) for any other; O(L) memory. Where packing, compression, decompression or
/// updates cost too: over Pareto fronts, O(L^2) time and memory on real networks, exponential at
/// worst: throws UnsupportedError when a limit is reached.
class Optimal final : public Strategy {
 private:
  [[nodiscard]] std::string do_id() const override { return "optimal"; }
  [[nodiscard]] std::string do_summary() const override {
    return "the exact optimum of the time model";
  }
  [[nodiscard]] MergePlan do_plan(const Task& task) const override;
};

namespace detail {
/// The group ends of an optimal plan. The first two need model.only_transfers(), the first a dense
/// `line` too.
[[nodiscard]] std::vector<std::size_t> optimal_ends_linear(const TimeModel& model,
                                                           const LinearCost& line);
[[nodiscard]] std::vector<std::size_t> optimal_ends_any_cost(const TimeModel& model);
[[nodiscard]] std::vector<std::size_t> optimal_ends_general(const TimeModel& model);
}  // namespace detail

}  // namespace mergewise
