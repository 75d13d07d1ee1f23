// SPDX-License-Identifier: Apache-2.0
// One prediction for the plan and one for each plan that differs from it by one border.
#include "bench/strategies/explain.hpp"

#include "bench/plan/timeline.hpp"

#include <algorithm>
#include <cmath>

namespace mergewise {
namespace {

constexpr double kRounding = 1e-12;

const char* reason(bool merged, Nanoseconds without, Nanoseconds with) {
  if (std::abs(without - with) <= kRounding * with) return "the border makes no difference";
  if (merged) {
    return without < with ? "a border here would cost time" : "a border here would save time";
  }
  return without < with ? "merging here would save time" : "merging here would cost time";
}

}  // namespace

Decisions explain_by_toggling(const TimeModel& model, const std::vector<std::size_t>& ends) {
  Decisions decisions;
  if (ends.size() > kMostExplained) return decisions;
  const bool all = model.tensor_count() <= kMostExplained;
  const Nanoseconds planned = predict_iteration(model, ends);
  for (std::size_t border = 1; border < model.tensor_count(); ++border) {
    const auto place = std::lower_bound(ends.begin(), ends.end(), border);
    const bool merged = *place != border;
    if (merged && !all) continue;
    std::vector<std::size_t> toggled = ends;
    const auto at = toggled.begin() + (place - ends.begin());
    if (merged) {
      toggled.insert(at, border);
    } else {
      toggled.erase(at);
    }
    const Nanoseconds other = predict_iteration(model, toggled);
    const Nanoseconds without = merged ? planned : other;
    const Nanoseconds with = merged ? other : planned;
    decisions.push_back({.border = border,
                         .merged = merged,
                         .left = "iteration without this border",
                         .right = "iteration with it",
                         .left_value = without,
                         .right_value = with,
                         .unit = "ns",
                         .why = reason(merged, without, with)});
  }
  return decisions;
}

}  // namespace mergewise
