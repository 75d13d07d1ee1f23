// SPDX-License-Identifier: Apache-2.0
// Wait-free backpropagation: every tensor is sent on its own, as soon as it is ready.
#pragma once

#include "bench/strategies/strategy.hpp"

#include <string>

namespace mergewise {

/// Poseidon (Zhang et al., USENIX ATC 2017, arXiv 1706.03292). O(L).
class Wfbp final : public Strategy {
 private:
  [[nodiscard]] std::string do_id() const override { return "wfbp"; }
  [[nodiscard]] std::string do_summary() const override {
    return "every tensor on its own (wait-free backpropagation)";
  }
  [[nodiscard]] MergePlan do_plan(const Task& task) const override;
};

}  // namespace mergewise
