// SPDX-License-Identifier: Apache-2.0
// ByteScheduler: gradients cut into chunks, those that the next forward pass needs first go first.
#pragma once

#include "bench/strategies/strategy.hpp"

#include <string>
#include <vector>

namespace mergewise {

/// Peng et al., "A Generic Communication Scheduler for Distributed DNN Training Acceleration", SOSP
/// 2019. Options: partition, credit (bytes). Dense gradients only; simulated only, since the order
/// of chunks is that of the model's times, which every rank would have to agree on. O(L).
class Bytescheduler final : public Strategy {
 private:
  [[nodiscard]] std::string do_id() const override { return "bytescheduler"; }
  [[nodiscard]] std::string do_summary() const override {
    return "ByteScheduler: chunks by priority, the layer that the next forward pass needs first";
  }
  [[nodiscard]] std::vector<OptionSpec> do_options() const override;
  [[nodiscard]] bool do_within_optimal() const override { return false; }
  [[nodiscard]] bool do_replayable() const override { return false; }
  [[nodiscard]] std::vector<Collective> do_collectives(const TimeModel& model) const override;
  [[nodiscard]] MergePlan do_plan(const Task& task) const override;
};

}  // namespace mergewise
