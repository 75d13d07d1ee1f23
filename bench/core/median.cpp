// SPDX-License-Identifier: Apache-2.0
#include "bench/core/median.hpp"

#include "bench/core/error.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace mergewise {

double median(std::span<const double> samples) {
  MERGEWISE_CHECK(!samples.empty(), "a median needs samples");
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const double below = sorted[(sorted.size() - 1) / 2];
  const double above = sorted[sorted.size() / 2];
  return below + (above - below) / 2;  // as bench/stats has its quantiles, to the last digit
}

}  // namespace mergewise
