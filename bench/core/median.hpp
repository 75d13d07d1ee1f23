// SPDX-License-Identifier: Apache-2.0
// The median, for every folder that measures; more statistics are in bench/stats.
#pragma once

#include <span>

namespace mergewise {

/// Of an even number of samples, the mean of the middle two. Throws std::logic_error when empty.
[[nodiscard]] double median(std::span<const double> samples);

}  // namespace mergewise
