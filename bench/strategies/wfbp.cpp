// SPDX-License-Identifier: Apache-2.0
#include "bench/strategies/wfbp.hpp"

#include <numeric>

namespace mergewise {

MergePlan Wfbp::do_plan(const TimeModel& model, const Options&) const {
  std::vector<std::size_t> ends(model.tensor_count());
  std::iota(ends.begin(), ends.end(), std::size_t{1});
  return plan_from_ends(id(), ends, model.collective());
}

}  // namespace mergewise
