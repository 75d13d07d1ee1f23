// SPDX-License-Identifier: Apache-2.0
#include "bench/strategies/single.hpp"

#include "bench/strategies/explain.hpp"

namespace mergewise {

MergePlan Single::do_plan(const Task& task) const {
  const TimeModel& model = task.model;
  if (task.decisions != nullptr) {
    *task.decisions = explain_by_toggling(model, {model.tensor_count()});
    for (Decision& border : *task.decisions) border.why = "all go together; " + border.why;
  }
  return plan_from_ends(id(), {model.tensor_count()}, model.collective());
}

}  // namespace mergewise
