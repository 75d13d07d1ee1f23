// SPDX-License-Identifier: Apache-2.0
// What all strategies share: options are completed before and the plan is checked after planning.
#include "bench/strategies/strategy.hpp"

#include "bench/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mergewise {
namespace {

Options resolve_for(const Strategy& strategy, const Options& given) {
  try {
    return resolve(strategy.options(), given);
  } catch (const InputError& error) {
    throw InputError(fmt::format("strategy '{}': {}", strategy.id(), error.what()));
  }
}

}  // namespace

MergePlan Strategy::plan(const TimeModel& model, const Options& given) const {
  MergePlan plan = do_plan(model, resolve_for(*this, given));
  check(plan, model.tensor_count());
  return plan;
}

Options known_options(const Strategy& strategy, const Options& given,
                      std::vector<std::string>* ignored) {
  const std::vector<OptionSpec> specs = strategy.options();
  Options known;
  for (const auto& [name, value] : given.values()) {
    const bool is_known = std::any_of(
        specs.begin(), specs.end(), [&name = name](const auto& spec) { return spec.name == name; });
    if (is_known) {
      known.set(name, value);
    } else if (ignored != nullptr) {
      ignored->push_back(name);
    }
  }
  return known;
}

}  // namespace mergewise
