// SPDX-License-Identifier: Apache-2.0
#include "bench/strategies/wfbp.hpp"

#include "bench/strategies/explain.hpp"

#include <numeric>

namespace mergewise {

MergePlan Wfbp::do_plan(const Task& task) const {
  const TimeModel& model = task.model;
  std::vector<std::size_t> ends(model.tensor_count());
  std::iota(ends.begin(), ends.end(), std::size_t{1});
  if (task.decisions != nullptr) {
    *task.decisions = explain_by_toggling(model, ends);
    for (Decision& border : *task.decisions) {
      border.why = "every tensor goes on its own; " + border.why;
    }
  }
  return plan_from_ends(id(), ends, model.collective());
}

}  // namespace mergewise
