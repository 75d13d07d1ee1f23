// SPDX-License-Identifier: Apache-2.0
#include "bench/replay/replayable.hpp"

#include "bench/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mergewise {
namespace {

bool all_are(const MergePlan& plan, std::size_t begin, std::size_t end, Collective collective) {
  return std::all_of(plan.groups.begin() + static_cast<std::ptrdiff_t>(begin),
                     plan.groups.begin() + static_cast<std::ptrdiff_t>(end),
                     [&](const Group& group) { return group.collective == collective; });
}

/// The gathered groups are those that were scattered: else ranks would give parts that they have
/// not summed.
bool gathers_what_it_scatters(const MergePlan& plan, std::size_t backward) {
  for (std::size_t i = backward; i < plan.groups.size(); ++i) {
    const bool found = std::any_of(
        plan.groups.begin(), plan.groups.begin() + static_cast<std::ptrdiff_t>(backward),
        [&](const Group& scattered) {
          return scattered.begin == plan.groups[i].begin && scattered.end == plan.groups[i].end;
        });
    if (!found) return false;
  }
  return true;
}

bool replayable(const MergePlan& plan) {
  const std::size_t all = plan.groups.size();
  const std::size_t backward = backward_groups_of(plan);
  if (plan.chunking) return false;
  if (backward == all) return all_are(plan, 0, all, Collective::kAllReduce);
  return all_are(plan, 0, backward, Collective::kReduceScatter) &&
         all_are(plan, backward, all, Collective::kAllGather) &&
         gathers_what_it_scatters(plan, backward);
}

}  // namespace

std::size_t backward_groups_of(const MergePlan& plan) {
  const auto first = std::find_if(plan.groups.begin(), plan.groups.end(), is_before_forward);
  return static_cast<std::size_t>(first - plan.groups.begin());
}

void check_replayable(const MergePlan& plan, const Compressor* compressor) {
  if (compressor != nullptr) {
    const std::size_t all = plan.groups.size();
    const Collective needed =
        compressor->summed_as() ? Collective::kAllReduce : Collective::kAllGather;
    if (!plan.chunking && backward_groups_of(plan) == all && all_are(plan, 0, all, needed)) return;
    throw UnsupportedError(fmt::format(
        "the plan of strategy '{}' cannot be replayed with compressor '{}': expected ready groups "
        "that are each sent by {}, as its messages need it; choose another strategy or compressor",
        plan.strategy, compressor->spec().id, name_of(needed)));
  }
  if (replayable(plan)) return;
  throw UnsupportedError(fmt::format(
      "the plan of strategy '{}' cannot be replayed: expected all-reduces of ready groups, or "
      "reduce-scatters of ready groups that are gathered again before the next forward pass; use "
      "`mergewise simulate` to see it in the model",
      plan.strategy));
}

}  // namespace mergewise
