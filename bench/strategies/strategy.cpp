// SPDX-License-Identifier: Apache-2.0
// What all strategies share: options are completed before and the plan is checked after planning.
#include "bench/strategies/strategy.hpp"

#include "bench/core/error.hpp"

#include <fmt/format.h>

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

}  // namespace mergewise
