// SPDX-License-Identifier: Apache-2.0
#include "bench/app/sort_cost.hpp"

#include <cmath>

namespace mergewise {

CostModel cost_with_sort(const LinearCost& line, double s_ns) {
  if (s_ns == 0) return line;
  constexpr double kMostElements = 1e10;
  constexpr double kStep = 1.05;
  MeasuredCost table;
  for (double elements = 1; elements < kMostElements; elements *= kStep) {
    const auto bytes = 4 * static_cast<Bytes>(elements);
    if (!table.points.empty() && bytes <= table.points.back().first) continue;
    const double n = static_cast<double>(bytes) / 4;
    table.points.emplace_back(bytes, line.at(bytes) + s_ns * n * std::log2(n));
  }
  return table;
}

}  // namespace mergewise
