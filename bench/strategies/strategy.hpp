// SPDX-License-Identifier: Apache-2.0
// What every merge strategy is: a pure function from the time model and its options to a plan.
#pragma once

#include "bench/core/options.hpp"
#include "bench/plan/merge_plan.hpp"
#include "bench/plan/time_model.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace mergewise {

/// Deterministic, without clocks, I/O or device; may be shared between threads.
class Strategy {
 public:
  virtual ~Strategy() = default;

  [[nodiscard]] std::string id() const { return do_id(); }
  [[nodiscard]] std::string summary() const { return do_summary(); }  ///< one line for lists
  [[nodiscard]] std::vector<OptionSpec> options() const { return do_options(); }

  /// Completes `given` with defaults, plans, and checks the plan. Throws InputError for an option
  /// it does not know or a bad value, UnsupportedError when the model has not what it needs.
  [[nodiscard]] MergePlan plan(const TimeModel& model, const Options& given) const;

 private:
  [[nodiscard]] virtual std::string do_id() const = 0;
  [[nodiscard]] virtual std::string do_summary() const = 0;
  [[nodiscard]] virtual std::vector<OptionSpec> do_options() const { return {}; }
  /// The plan, not yet checked; `options` are complete.
  [[nodiscard]] virtual MergePlan do_plan(const TimeModel& model, const Options& options) const = 0;
};

}  // namespace mergewise
