// SPDX-License-Identifier: Apache-2.0
// The exact minimum of the time model among all plans that merge consecutive tensors.
#pragma once

#include "bench/cost/cost_model.hpp"
#include "bench/strategies/strategy.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace mergewise {

/// Dynamic programming over f_i, the earliest end of all communication of the first i tensors
/// (docs/strategies.md). O(L) time for a linear cost of dense gradients, O(L^2) for any other cost;
/// O(L) memory. Throws UnsupportedError when packing, compression, decompression or update cost
/// time.
class Optimal final : public Strategy {
 private:
  [[nodiscard]] std::string do_id() const override { return "optimal"; }
  [[nodiscard]] std::string do_summary() const override {
    return "the exact optimum of the time model";
  }
  [[nodiscard]] MergePlan do_plan(const Task& task) const override;
};

namespace detail {
/// The group ends of an optimal plan; both need model.only_transfers(). The first needs a dense
/// `line` too.
[[nodiscard]] std::vector<std::size_t> optimal_ends_linear(const TimeModel& model,
                                                           const LinearCost& line);
[[nodiscard]] std::vector<std::size_t> optimal_ends_any_cost(const TimeModel& model);
}  // namespace detail

}  // namespace mergewise
