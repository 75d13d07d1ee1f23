// SPDX-License-Identifier: Apache-2.0
// MG-WFBP: merge the next gradient when waiting for it costs less than the start-up it saves.
#pragma once

#include "bench/strategies/strategy.hpp"

#include <string>
#include <vector>

namespace mergewise {

/// Shi, Chu, Li, INFOCOM 2019 / TPDS 2021 (arXiv 1912.09268): its merge condition, as one
/// inequality that holds for any cost of communication. Option: min_elements. O(L).
class MgWfbp final : public Strategy {
 private:
  [[nodiscard]] std::string do_id() const override { return "mg_wfbp"; }
  [[nodiscard]] std::string do_summary() const override {
    return "MG-WFBP: merge when waiting costs less than the start-up it saves";
  }
  [[nodiscard]] std::vector<OptionSpec> do_options() const override;
  [[nodiscard]] MergePlan do_plan(const Task& task) const override;
};

}  // namespace mergewise
