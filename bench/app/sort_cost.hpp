// SPDX-License-Identifier: Apache-2.0
// What selecting the largest of n gradients costs, and other costs by count, for papers' models.
#pragma once

#include "bench/cost/cost_model.hpp"

namespace mergewise {

/// a + b M + s n log2 n for the n = M / 4 elements of a group of M dense bytes. Where s is 0, a
/// line; else a table of points close enough together that it is within 0.1 % of the formula from
/// two elements on.
[[nodiscard]] CostModel cost_with_sort(const LinearCost& line, double s_ns);

}  // namespace mergewise
