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
#include <utility>
#include <vector>

namespace mergewise {

/// The strategy that sends every tensor on its own: not merging, against which the others are held.
inline constexpr const char* kAlone = "wfbp";

struct PlannedCase {
  MergePlan plan;
  Options options;  ///< complete
  Timeline timeline;
  /// Of the strategy's unit; nothing where it does not apply or is too expensive.
  std::optional<Nanoseconds> optimal_ns;
  /// timeline / optimal - 1; below 0 only for plans that are not among those of the optimum.
  [[nodiscard]] std::optional<double> gap() const;
};

/// The iteration time of a strategy's plan, made with its defaults.
[[nodiscard]] Nanoseconds iteration_by(const std::string& strategy, const TimeModel& model);

/// The least iteration time of any plan, or nothing: above 5,000 tensors in a quadratic form, where
/// the search reaches its limit, or without a cost of the compressor's collective.
[[nodiscard]] std::optional<Nanoseconds> optimal_iteration(const TimeModel& model);

/// The optima of one model by unit, each worked out when it is first asked for and then kept: one
/// for all strategies of a case. The model must outlive it; one thread at a time.
class Optima {
 public:
  explicit Optima(const TimeModel& model) : model_(model) {}
  /// optimal_iteration() of the units that a strategy with these complete options plans.
  [[nodiscard]] std::optional<Nanoseconds> of(const Options& complete);

 private:
  using Known = std::optional<std::optional<Nanoseconds>>;
  const TimeModel& model_;
  Known of_tensors_;
  Known of_layers_;
};

/// A plan made with these complete options, its prediction, and its distance to the optimum.
[[nodiscard]] PlannedCase judge(MergePlan plan, Options complete, const TimeModel& model,
                                Optima& optima);

/// Plans with options as given for the strategy (refused when it does not know one).
[[nodiscard]] PlannedCase plan_case(const std::string& strategy, const Options& options,
                                    const TimeModel& model, Optima& optima);

/// Those of a profile's options that the strategy knows; the names of the others are added to
/// `notes`.
[[nodiscard]] Options known_options(const std::string& strategy, const Options& options,
                                    std::vector<std::string>& notes);

}  // namespace mergewise
