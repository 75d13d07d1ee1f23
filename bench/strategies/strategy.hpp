// SPDX-License-Identifier: Apache-2.0
// What every merge strategy is: a pure function from the time model and its options to a plan.
#pragma once

#include "bench/core/options.hpp"
#include "bench/plan/merge_plan.hpp"
#include "bench/plan/time_model.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mergewise {

/// One border between two neighbouring tensors and the inequality that decided it: merged when
/// left < right. Strategies that do not weigh a border against something leave both names empty.
struct Decision {
  std::size_t border = 0;  ///< tensors before it: 1..L-1
  bool merged = false;
  std::string left;   ///< what was compared, e.g. "max(s, R[i+1]) + T(p+q)"
  std::string right;  ///< e.g. "s + T(p) + T(q)"
  double left_value = 0;
  double right_value = 0;
  std::string unit;  ///< "ns" or "bytes"
  std::string why;   ///< one short clause, e.g. "waiting costs more than the start-up saved"
  friend bool operator==(const Decision&, const Decision&) = default;
};
/// By increasing border; a border that was never weighed is missing.
using Decisions = std::vector<Decision>;

/// What a search over plans asks: how long an iteration takes under a plan. The model's answer in
/// `plan` and `simulate`, a measured replay in `run`.
class PlanEvaluator {
 public:
  virtual ~PlanEvaluator() = default;
  /// `ends` cover all tensors of the model that the search was given. Not cached here.
  [[nodiscard]] virtual Nanoseconds iteration(const std::vector<std::size_t>& ends) = 0;
  /// Relative differences up to this are noise; 0 in the model.
  [[nodiscard]] virtual double noise() const = 0;
};

/// Deterministic, without clocks, I/O or device; may be shared between threads. Every strategy has
/// the option `unit: tensor | layer`: with `layer` a run of tensors of one layer counts as one
/// tensor for everything it does.
class Strategy {
 public:
  virtual ~Strategy() = default;

  [[nodiscard]] std::string id() const { return do_id(); }
  [[nodiscard]] std::string summary() const { return do_summary(); }  ///< one line for lists
  [[nodiscard]] std::vector<OptionSpec> options() const;
  /// Its plans are among those that `optimal` is the best of. The others may beat it.
  [[nodiscard]] bool within_optimal() const { return do_within_optimal(); }
  /// Its plans can be replayed; else it is simulated only.
  [[nodiscard]] bool replayable() const { return do_replayable(); }
  /// It compares plans by their iteration times, which `run` measures: see search().
  [[nodiscard]] bool searches() const { return do_searches(); }

  /// The collectives it sends with.
  [[nodiscard]] std::vector<Collective> collectives(const TimeModel& model) const {
    return do_collectives(model);
  }

  /// Completes `given` with defaults, plans, and checks the plan. Throws InputError for an option
  /// it does not know or a bad value, UnsupportedError when the model has not what it needs (naming
  /// the collective whose cost is missing).
  [[nodiscard]] MergePlan plan(const TimeModel& model, const Options& given) const;
  /// The same plan with the decision at every border it weighed.
  [[nodiscard]] std::pair<MergePlan, Decisions> explain(const TimeModel& model,
                                                        const Options& given) const;
  /// The same with another judge of plans than the model's timeline; for strategies that do not
  /// search, plan().
  [[nodiscard]] MergePlan search(const TimeModel& model, const Options& given,
                                 PlanEvaluator& evaluator) const;

 protected:
  /// What do_plan is given: a model whose tensors are the units, complete options, and where a
  /// search's answers come from.
  struct Task {
    const TimeModel& model;
    const Options& options;
    PlanEvaluator& evaluator;
    Decisions* decisions;  ///< to be filled by the way; null when nobody wants them
  };

 private:
  [[nodiscard]] virtual std::string do_id() const = 0;
  [[nodiscard]] virtual std::string do_summary() const = 0;
  [[nodiscard]] virtual std::vector<OptionSpec> do_options() const { return {}; }
  [[nodiscard]] virtual bool do_within_optimal() const { return true; }
  [[nodiscard]] virtual bool do_replayable() const { return true; }
  [[nodiscard]] virtual bool do_searches() const { return false; }
  /// The collectives it sends with.
  [[nodiscard]] virtual std::vector<Collective> do_collectives(const TimeModel& model) const {
    return {model.collective()};
  }
  /// The plan, not yet checked.
  [[nodiscard]] virtual MergePlan do_plan(const Task& task) const = 0;

  [[nodiscard]] MergePlan plan_units(const TimeModel& model, const Options& given,
                                     PlanEvaluator* evaluator, Decisions* decisions) const;
};

/// The model of a strategy's units: `model` itself, or by layers where its complete options say so.
/// A plan for it is widened back to tensors by Strategy itself; reports hold a plan against the
/// optimum of the same unit with it.
[[nodiscard]] TimeModel model_of_units(const TimeModel& model, const Options& complete);

}  // namespace mergewise
