// SPDX-License-Identifier: Apache-2.0
// A strategy's plan with its prediction and its distance to the optimum: what `plan` prints and
// `run` records.
#pragma once

#include "bench/core/options.hpp"
#include "bench/plan/merge_plan.hpp"
#include "bench/plan/time_model.hpp"
#include "bench/plan/timeline.hpp"

#include <optional>
#include <string>
#include <vector>

namespace mergewise {

struct PlannedCase {
  MergePlan plan;
  Options options;  ///< complete
  Timeline timeline;
  std::optional<Nanoseconds>
      optimal_ns;  ///< nothing where the optimum does not apply or is too expensive
  [[nodiscard]] std::optional<double> gap() const;  ///< timeline / optimal - 1
};

/// The least iteration time of any plan, or nothing: above 5,000 tensors in a quadratic form, or
/// where the exact form for the model is not available.
[[nodiscard]] std::optional<Nanoseconds> optimal_iteration(const TimeModel& model);

/// Plans with options as given for the strategy (refused when it does not know one).
[[nodiscard]] PlannedCase plan_case(const std::string& strategy, const Options& options,
                                    const TimeModel& model, std::optional<Nanoseconds> optimal_ns);

/// Those of a profile's options that the strategy knows; the names of the others are added to
/// `notes`.
[[nodiscard]] Options known_options(const std::string& strategy, const Options& options,
                                    std::vector<std::string>& notes);

}  // namespace mergewise
