// SPDX-License-Identifier: Apache-2.0
// DeAR: an all-reduce in two halves, one behind the backward pass and one behind the next forward
// pass.
#pragma once

#include "bench/strategies/strategy.hpp"

#include <string>
#include <vector>

namespace mergewise {

/// Zhang et al., ICDCS 2023 (arXiv 2302.12445), with a fixed size cap instead of its search. Groups
/// of whole layers, dense gradients only. Options: cap_bytes, prefetch (how early gathers are
/// issued). O(L).
class Dear final : public Strategy {
 private:
  [[nodiscard]] std::string do_id() const override { return "dear"; }
  [[nodiscard]] std::string do_summary() const override {
    return "DeAR: reduce-scatter behind the backward pass, all-gather behind the next forward pass";
  }
  [[nodiscard]] std::vector<OptionSpec> do_options() const override;
  [[nodiscard]] bool do_within_optimal() const override { return false; }
  [[nodiscard]] std::vector<Collective> do_collectives(const TimeModel& model) const override;
  [[nodiscard]] MergePlan do_plan(const Task& task) const override;
};

}  // namespace mergewise
