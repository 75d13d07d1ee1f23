// SPDX-License-Identifier: Apache-2.0
// One buffer: all gradients are sent together after the backward pass.
#pragma once

#include "bench/strategies/strategy.hpp"

#include <string>

namespace mergewise {

/// SyncEASGD (You, Buluc, Demmel, SC 2017); in later papers "BSP".
/// O(1).
class Single final : public Strategy {
 private:
  [[nodiscard]] std::string do_id() const override { return "single"; }
  [[nodiscard]] std::string do_summary() const override {
    return "all tensors in one group after the backward pass";
  }
  [[nodiscard]] MergePlan do_plan(const Task& task) const override;
};

}  // namespace mergewise
