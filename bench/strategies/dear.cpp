// SPDX-License-Identifier: Apache-2.0
#include "bench/strategies/dear.hpp"

#include <algorithm>

namespace mergewise {
namespace {

constexpr Bytes kDefaultCap = Bytes{25} << 20;

/// Where groups begin, in forward order. The layer [begin, end) is the next that may join.
std::vector<std::size_t> group_begins(const TimeModel& model, Bytes cap, Decisions* decisions) {
  const std::vector<std::size_t>& ends = model.layer_ends();
  std::vector<std::size_t> begins;
  std::size_t group_end = model.tensor_count();
  for (std::size_t layer = ends.size() - 1; layer > 0; --layer) {
    const std::size_t end = ends[layer - 1];
    const std::size_t begin = layer == 1 ? 0 : ends[layer - 2];
    const Bytes together = model.bytes(begin, group_end);
    const bool merged = together < cap;
    if (!merged) {
      begins.push_back(end);
      group_end = end;
    }
    if (decisions == nullptr) continue;
    decisions->push_back(
        {.border = end,
         .merged = merged,
         .left = "bytes of the group with the next layer in forward order",
         .right = "cap_bytes",
         .left_value = static_cast<double>(together),
         .right_value = static_cast<double>(cap),
         .unit = "bytes",
         .why = merged ? "the layer fits below the cap" : "the layer would reach the cap"});
  }
  begins.push_back(0);
  if (decisions != nullptr) std::reverse(decisions->begin(), decisions->end());
  return begins;
}

}  // namespace

std::vector<OptionSpec> Dear::do_options() const {
  return {{.name = "cap_bytes",
           .kind = OptionKind::kInteger,
           .summary = "a group is closed before a layer that would bring it to this many bytes",
           .default_value = kDefaultCap,
           .choices = {}},
          {.name = "prefetch",
           .kind = OptionKind::kInteger,
           .summary = "groups gathered ahead of the forward pass; all: back to back",
           .default_value = std::int64_t{1},
           .minimum = 1,
           .maximum = 1,
           .choices = {"all"}}};
}

std::vector<Collective> Dear::do_collectives(const TimeModel& model) const {
  model.require_dense("strategy 'dear'");
  return {Collective::kReduceScatter, Collective::kAllGather};
}

MergePlan Dear::do_plan(const Task& task) const {
  const TimeModel& model = task.model;
  static_cast<void>(model.require_ranks("strategy 'dear'"));
  const bool all = task.options.is_word("prefetch", "all");
  const std::vector<std::size_t> begins =
      group_begins(model, task.options.integer("cap_bytes"), task.decisions);
  const std::size_t count = begins.size();
  MergePlan plan{id(), {}, std::nullopt};
  plan.groups.reserve(2 * count);
  const auto end_of = [&](std::size_t i) { return i == 0 ? model.tensor_count() : begins[i - 1]; };
  for (std::size_t i = count; i-- > 0;) {
    plan.groups.push_back({begins[i], end_of(i), Collective::kReduceScatter, WhenReady{}});
  }
  for (std::size_t i = 0; i < count; ++i) {
    BeforeForward release;
    if (i > 0 && !all) release.issued_with = count + i - 1;
    plan.groups.push_back({begins[i], end_of(i), Collective::kAllGather, release});
  }
  return plan;
}

}  // namespace mergewise
