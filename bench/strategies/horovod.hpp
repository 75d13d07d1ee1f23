// SPDX-License-Identifier: Apache-2.0
// An emulation of Horovod's tensor fusion: each cycle of its loop sends what is ready by then.
#pragma once

#include "bench/strategies/strategy.hpp"

#include <string>
#include <vector>

namespace mergewise {

/// Sergeev, Del Balso, arXiv 1802.05799; cycles as in Horovod's background loop. Horovod decides
/// while it runs; this is what it would do if every rank kept to the model, fixed as a plan whose
/// groups are not sent before their cycle starts. Options: fusion_bytes (dense bytes), cycle_ns,
/// completion. O(L): cycles without work are skipped at once.
class Horovod final : public Strategy {
 private:
  [[nodiscard]] std::string do_id() const override { return "horovod"; }
  [[nodiscard]] std::string do_summary() const override {
    return "Horovod, emulated: each cycle fuses what is ready, up to a size";
  }
  [[nodiscard]] std::vector<OptionSpec> do_options() const override;
  [[nodiscard]] MergePlan do_plan(const Task& task) const override;
};

}  // namespace mergewise
