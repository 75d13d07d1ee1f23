// SPDX-License-Identifier: Apache-2.0
// Waiting t_w = b[i+1] + c(p+q) - c(p) - c(q) - slack against saving t_s = T(p) + T(q) - T(p+q),
// where c stands for packing and compression.
#include "bench/strategies/omgs.hpp"

#include <algorithm>

namespace mergewise {
namespace {

Decision weighed(std::size_t border, Nanoseconds waiting, Nanoseconds saving) {
  const bool merged = waiting < saving;
  return {.border = border,
          .merged = merged,
          .left = "t_w = b[i+1] + c(p+q) - c(p) - c(q) - slack",
          .right = "t_s = T(p) + T(q) - T(p+q)",
          .left_value = waiting,
          .right_value = saving,
          .unit = "ns",
          .why = merged ? "waiting costs less than merging saves"
                        : "waiting costs at least what merging saves"};
}

}  // namespace

MergePlan Omgs::do_plan(const Task& task) const {
  const TimeModel& model = task.model;
  const std::size_t count = model.tensor_count();
  std::vector<std::size_t> ends;
  Nanoseconds sent = 0;      // end of the previous group, from the start of the backward pass
  Nanoseconds compress = 0;  // packing and compression of the groups before this one
  std::size_t begin = 0;     // the open group is [begin, next)
  for (std::size_t next = 1; next < count; ++next) {
    const Nanoseconds alone = model.before_send(begin, next);
    const Nanoseconds ready = model.ready(next - 1) + compress + alone;
    const Nanoseconds slack = std::max(0.0, sent - ready);
    const Nanoseconds waiting = model.backward(next) + model.before_send(begin, next + 1) - alone -
                                model.before_send(next, next + 1) - slack;
    const Nanoseconds saving = model.transfer(begin, next) + model.transfer(next, next + 1) -
                               model.transfer(begin, next + 1);
    if (task.decisions != nullptr) task.decisions->push_back(weighed(next, waiting, saving));
    if (waiting < saving) continue;
    ends.push_back(next);
    sent = std::max(sent, ready) + model.transfer(begin, next);
    compress += alone;
    begin = next;
  }
  ends.push_back(count);
  return plan_from_ends(id(), ends, model.collective());
}

}  // namespace mergewise
