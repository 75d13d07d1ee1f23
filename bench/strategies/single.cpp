// SPDX-License-Identifier: Apache-2.0
#include "bench/strategies/single.hpp"

namespace mergewise {

MergePlan Single::do_plan(const Task& task) const {
  const TimeModel& model = task.model;
  return plan_from_ends(id(), {model.tensor_count()}, model.collective());
}

}  // namespace mergewise
