// SPDX-License-Identifier: Apache-2.0
// OMGS-SGD: MG-WFBP's question with compression: is waiting cheaper than what merging saves?
#pragma once

#include "bench/strategies/strategy.hpp"

#include <string>
#include <vector>

namespace mergewise {

/// Shi, Wang, Chu, Li, Qiu, Zhao, "Communication-efficient distributed deep learning with merged
/// gradient sparsification on GPUs", INFOCOM 2020: its merge condition for any cost of compression
/// and communication. O(L).
class Omgs final : public Strategy {
 private:
  [[nodiscard]] std::string do_id() const override { return "omgs"; }
  [[nodiscard]] std::string do_summary() const override {
    return "OMGS-SGD: merge when waiting and compressing costs less than merging saves";
  }
  [[nodiscard]] MergePlan do_plan(const Task& task) const override;
};

}  // namespace mergewise
