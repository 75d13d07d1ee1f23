// SPDX-License-Identifier: Apache-2.0
// MergeComp: few groups, found by trying plans instead of modelling them.
#pragma once

#include "bench/strategies/strategy.hpp"

#include <string>
#include <vector>

namespace mergewise {

/// Wang, Wu, Ng, arXiv 2103.15195. Knows no costs: it asks the evaluator, the model in `plan`, a
/// measured replay in `run`. Options: max_groups (2, as published; more is ours), min_gain.
/// O(log L) probes per border and pass, each plan is asked for once.
class Mergecomp final : public Strategy {
 private:
  [[nodiscard]] std::string do_id() const override { return "mergecomp"; }
  [[nodiscard]] std::string do_summary() const override {
    return "MergeComp: search for the borders of few groups by trying plans";
  }
  [[nodiscard]] std::vector<OptionSpec> do_options() const override;
  [[nodiscard]] bool do_searches() const override { return true; }
  [[nodiscard]] MergePlan do_plan(const Task& task) const override;
};

}  // namespace mergewise
