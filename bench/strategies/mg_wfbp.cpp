// SPDX-License-Identifier: Apache-2.0
#include "bench/strategies/mg_wfbp.hpp"

#include <algorithm>

namespace mergewise {

std::vector<OptionSpec> MgWfbp::do_options() const {
  return {{.name = "min_elements",
           .kind = OptionKind::kInteger,
           .summary = "groups of fewer elements always merge on (the authors' code uses 8192)",
           .default_value = std::int64_t{0},
           .choices = {}}};
}

MergePlan MgWfbp::do_plan(const TimeModel& model, const Options& options) const {
  const std::int64_t min_elements = options.integer("min_elements");
  const std::size_t count = model.tensor_count();
  std::vector<std::size_t> ends;
  Nanoseconds sent = 0;      // end of the previous group, from the start of the backward pass
  Nanoseconds compress = 0;  // packing and compression of the groups before this one
  Bytes merged = model.bytes(0);
  for (std::size_t tensor = 0; tensor + 1 < count; ++tensor) {
    const Bytes next = model.bytes(tensor + 1);
    const Nanoseconds ready = model.ready(tensor) + compress + model.before_send(merged);
    const Nanoseconds start = std::max(sent, ready);
    const Nanoseconds ready_together =
        model.ready(tensor + 1) + compress + model.before_send(merged + next);
    const Nanoseconds together = std::max(start, ready_together) + model.transfer(merged + next);
    const Nanoseconds apart = start + model.transfer(merged) + model.transfer(next);
    // Strictly less, so that an empty tensor, which has no start-up to save, never merges.
    if (together < apart || merged / model.wire().element_bytes < min_elements) {
      merged += next;
      continue;
    }
    ends.push_back(tensor + 1);
    sent = start + model.transfer(merged);
    compress += model.before_send(merged);
    merged = next;
  }
  ends.push_back(count);
  return plan_from_ends(id(), ends, model.collective());
}

}  // namespace mergewise
