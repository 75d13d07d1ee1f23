// SPDX-License-Identifier: Apache-2.0
#include "bench/app/planning.hpp"

#include "bench/core/error.hpp"
#include "bench/strategies/registry.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mergewise {

constexpr std::size_t kMostTensorsQuadratic = 5000;

std::optional<double> PlannedCase::gap() const {
  if (!optimal_ns || *optimal_ns <= 0) return std::nullopt;
  return timeline.iteration_ns / *optimal_ns - 1;
}

Nanoseconds iteration_by(const std::string& strategy, const TimeModel& model) {
  return predict_iteration(model, make_strategy(strategy)->plan(model, {}));
}

std::optional<Nanoseconds> optimal_iteration(const TimeModel& model) {
  const bool linear = model.dense_line() != nullptr && model.only_transfers();
  if (!linear && model.tensor_count() > kMostTensorsQuadratic) return std::nullopt;
  try {
    return iteration_by("optimal", model);
  } catch (const UnsupportedError&) {
    return std::nullopt;
  }
}

std::optional<Nanoseconds> Optima::of(const Options& complete) {
  const bool layers =
      complete.is_word("unit", "layer") && model_.layer_ends().size() < model_.tensor_count();
  Known& known = layers ? of_layers_ : of_tensors_;
  if (!known) known = optimal_iteration(layers ? model_of_units(model_, complete) : model_);
  return *known;
}

PlannedCase judge(MergePlan plan, Options complete, const TimeModel& model, Optima& optima) {
  Timeline timeline = predict(model, plan);
  const std::optional<Nanoseconds> optimal = optima.of(complete);
  return {std::move(plan), std::move(complete), std::move(timeline), optimal};
}

PlannedCase plan_case(const std::string& strategy, const Options& options, const TimeModel& model,
                      Optima& optima) {
  const auto planner = make_strategy(strategy);
  return judge(planner->plan(model, options), resolve(planner->options(), options), model, optima);
}

Options known_options(const std::string& strategy, const Options& options,
                      std::vector<std::string>& notes) {
  const auto specs = make_strategy(strategy)->options();
  Options known;
  for (const auto& [name, value] : options.values()) {
    // A plain reference: clang 14 cannot capture a structured binding.
    const std::string& wanted = name;
    const bool knows = std::any_of(specs.begin(), specs.end(),
                                   [&](const OptionSpec& spec) { return spec.name == wanted; });
    if (knows) {
      known.set(name, value);
    } else {
      notes.push_back(
          fmt::format("the profile's option '{}' is not one of {}: ignored", name, strategy));
    }
  }
  return known;
}

}  // namespace mergewise
