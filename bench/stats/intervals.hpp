// SPDX-License-Identifier: Apache-2.0
// Sets of time: what is covered by spans, and the one label each instant of an iteration gets.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace mergewise {

/// Half-open stretches of time [begin, end).
using Stretch = std::pair<double, double>;

/// Sorted, disjoint, non-empty stretches that cover the same instants.
[[nodiscard]] std::vector<Stretch> union_of(std::vector<Stretch> stretches);
[[nodiscard]] double length(const std::vector<Stretch>& disjoint);
/// Instants of `a` that are not in `b`; both as union_of gives them.
[[nodiscard]] std::vector<Stretch> difference(const std::vector<Stretch>& a,
                                              const std::vector<Stretch>& b);

/// Cuts [begin, end) into labels: each instant gets the first label of `layers` whose stretches
/// cover it, what none covers is "idle". The lengths sum to end - begin exactly up to rounding.
[[nodiscard]] std::vector<std::pair<std::string, double>> label_time(
    double begin, double end,
    const std::vector<std::pair<std::string, std::vector<Stretch>>>& layers);

}  // namespace mergewise
