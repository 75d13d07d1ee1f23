// SPDX-License-Identifier: Apache-2.0
#include "bench/strategies/mg_wfbp.hpp"

#include <algorithm>

namespace mergewise {
namespace {

constexpr double kMostElements = 1e15;  // whose bytes can be counted

Decision weighed(std::size_t border, Nanoseconds together, Nanoseconds apart) {
  const bool merged = together < apart;
  return {.border = border,
          .merged = merged,
          .left = "max(s, R[i+1]) + T(p+q)",
          .right = "s + T(p) + T(q)",
          .left_value = together,
          .right_value = apart,
          .unit = "ns",
          .why = merged ? "waiting costs less than the start-up saved"
                        : "waiting costs at least the start-up saved"};
}

Decision too_small(std::size_t border, Bytes group, Bytes least) {
  return {.border = border,
          .merged = true,
          .left = "bytes in the group",
          .right = "min_elements, in bytes",
          .left_value = static_cast<double>(group),
          .right_value = static_cast<double>(least),
          .unit = "bytes",
          .why = "so small a group always merges on"};
}

}  // namespace

std::vector<OptionSpec> MgWfbp::do_options() const {
  return {{.name = "min_elements",
           .kind = OptionKind::kInteger,
           .summary = "groups of fewer elements always merge on (the authors' code uses 8192)",
           .default_value = std::int64_t{0},
           .maximum = kMostElements,
           .choices = {}}};
}

MergePlan MgWfbp::do_plan(const Task& task) const {
  const TimeModel& model = task.model;
  const Bytes element = model.wire().element_bytes();
  const std::int64_t min_elements = task.options.integer("min_elements");
  const std::size_t count = model.tensor_count();
  std::vector<std::size_t> ends;
  Nanoseconds sent = 0;      // end of the previous group, from the start of the backward pass
  Nanoseconds compress = 0;  // packing and compression of the groups before this one
  std::size_t begin = 0;     // the open group is [begin, next)
  for (std::size_t next = 1; next < count; ++next) {
    const Nanoseconds ready = model.ready(next - 1) + compress + model.before_send(begin, next);
    const Nanoseconds start = std::max(sent, ready);
    const Nanoseconds ready_together =
        model.ready(next) + compress + model.before_send(begin, next + 1);
    const Nanoseconds together = std::max(start, ready_together) + model.transfer(begin, next + 1);
    const Nanoseconds apart = start + model.transfer(begin, next) + model.transfer(next, next + 1);
    const bool small = model.bytes(begin, next) / element < min_elements;
    if (task.decisions != nullptr) {
      task.decisions->push_back(
          small ? too_small(next, model.bytes(begin, next), min_elements * element)
                : weighed(next, together, apart));
    }
    // Strictly less, so that an empty tensor, which has no start-up to save, never merges.
    if (together < apart || small) continue;
    ends.push_back(next);
    sent = start + model.transfer(begin, next);
    compress += model.before_send(begin, next);
    begin = next;
  }
  ends.push_back(count);
  return plan_from_ends(id(), ends, model.collective());
}

}  // namespace mergewise
