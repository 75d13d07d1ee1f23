// SPDX-License-Identifier: Apache-2.0
// Explains a plan that no rule of its own decided border by border: what each border is worth.
#pragma once

#include "bench/strategies/strategy.hpp"

#include <cstddef>
#include <vector>

namespace mergewise {

/// Beyond so many tensors only the borders of the plan itself are weighed, and beyond so many
/// groups nothing is.
inline constexpr std::size_t kMostExplained = 2000;

/// For each of the borders 1..L-1, the iteration without it (left) against the iteration with it
/// (right), all other borders being those of the plan of when-ready groups with these `ends`.
/// O(L x groups).
[[nodiscard]] Decisions explain_by_toggling(const TimeModel& model,
                                            const std::vector<std::size_t>& ends);

}  // namespace mergewise
