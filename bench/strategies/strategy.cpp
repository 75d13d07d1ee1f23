// SPDX-License-Identifier: Apache-2.0
// What all strategies share: options are completed and units formed before planning, plans are
// widened to tensors and checked after it.
#include "bench/strategies/strategy.hpp"

#include "bench/core/error.hpp"
#include "bench/plan/timeline.hpp"

#include <fmt/format.h>

#include <optional>

namespace mergewise {
namespace {

constexpr const char* kUnit = "unit";

Options resolve_for(const Strategy& strategy, const Options& given) {
  try {
    return resolve(strategy.options(), given);
  } catch (const InputError& error) {
    throw InputError(fmt::format("strategy '{}': {}", strategy.id(), error.what()));
  }
}

class ModelEvaluator final : public PlanEvaluator {
 public:
  explicit ModelEvaluator(const TimeModel& model) : model_(model) {}
  Nanoseconds iteration(const std::vector<std::size_t>& ends) override {
    return predict_iteration(model_, ends);
  }
  [[nodiscard]] double noise() const override { return 0; }

 private:
  const TimeModel& model_;
};

/// Asks about plans of units in terms of tensors.
class UnitEvaluator final : public PlanEvaluator {
 public:
  UnitEvaluator(PlanEvaluator& tensors, const std::vector<std::size_t>& unit_ends)
      : tensors_(tensors), unit_ends_(unit_ends) {}
  Nanoseconds iteration(const std::vector<std::size_t>& ends) override {
    std::vector<std::size_t> widened;
    for (const std::size_t end : ends) widened.push_back(unit_ends_[end - 1]);
    return tensors_.iteration(widened);
  }
  [[nodiscard]] double noise() const override { return tensors_.noise(); }

 private:
  PlanEvaluator& tensors_;
  const std::vector<std::size_t>& unit_ends_;
};

bool by_layer(const Options& options) { return options.is_word(kUnit, "layer"); }

}  // namespace

std::vector<OptionSpec> Strategy::options() const {
  std::vector<OptionSpec> specs = do_options();
  specs.push_back({.name = kUnit,
                   .kind = OptionKind::kWord,
                   .summary = "what is never split: a tensor, or a layer's tensors in a row",
                   .default_value = std::string("tensor"),
                   .choices = {"tensor", "layer"}});
  return specs;
}

TimeModel model_of_units(const TimeModel& model, const Options& complete) {
  return by_layer(complete) ? model.merged(model.layer_ends()) : model;
}

MergePlan Strategy::plan_units(const TimeModel& model, const Options& given,
                               PlanEvaluator* evaluator, Decisions* decisions) const {
  const Options options = resolve_for(*this, given);
  for (const Collective collective : do_collectives(model)) {
    model.require_cost(collective, fmt::format("strategy '{}'", id()));
  }
  const auto finish = [&](MergePlan plan) {
    check(plan, model.tensor_count());
    return plan;
  };
  if (!by_layer(options)) {
    ModelEvaluator predicted(model);
    return finish(
        do_plan({model, options, evaluator != nullptr ? *evaluator : predicted, decisions}));
  }
  const std::vector<std::size_t>& unit_ends = model.layer_ends();
  const TimeModel units = model.merged(unit_ends);
  ModelEvaluator predicted(units);
  std::optional<UnitEvaluator> measured;
  if (evaluator != nullptr) measured.emplace(*evaluator, unit_ends);
  PlanEvaluator& judge = measured ? static_cast<PlanEvaluator&>(*measured) : predicted;
  MergePlan plan = do_plan({units, options, judge, decisions});
  for (Group& group : plan.groups) {
    group.begin = group.begin == 0 ? 0 : unit_ends[group.begin - 1];
    group.end = unit_ends[group.end - 1];
  }
  if (decisions != nullptr) {
    for (Decision& decision : *decisions) decision.border = unit_ends[decision.border - 1];
  }
  return finish(std::move(plan));
}

MergePlan Strategy::plan(const TimeModel& model, const Options& given) const {
  return plan_units(model, given, nullptr, nullptr);
}

std::pair<MergePlan, Decisions> Strategy::explain(const TimeModel& model,
                                                  const Options& given) const {
  Decisions decisions;
  MergePlan plan = plan_units(model, given, nullptr, &decisions);
  return {std::move(plan), std::move(decisions)};
}

MergePlan Strategy::search(const TimeModel& model, const Options& given,
                           PlanEvaluator& evaluator) const {
  return plan_units(model, given, searches() ? &evaluator : nullptr, nullptr);
}

}  // namespace mergewise
