// SPDX-License-Identifier: Apache-2.0
// What codes with scales share.
#pragma once

#include "kernels/compress/arguments.hpp"
#include "kernels/primitives/sums.hpp"

namespace mergewise {

inline constexpr float kLargestFloat = 3.40282347e38F;

/// Sums of floats may overflow; what is sent and what is kept stay numbers.
MERGEWISE_HD inline float finite_scale(double scale) {
  constexpr double kLargest = kLargestFloat;
  return static_cast<float>(scale > kLargest ? kLargest : scale < -kLargest ? -kLargest : scale);
}

/// Squares of floats fit a double.
struct SumOfSquares {
  MERGEWISE_HD Sums<double, 1> operator()(float x) const {
    return {{static_cast<double>(x) * static_cast<double>(x)}};
  }
};

/// Of codes whose mean is that of what they say, and whose memory is what they do not.
struct MeanOfRanks {
  static constexpr bool kSharedDraws = false;
  using Source = Accumulated;

  MERGEWISE_HD static float kept(float x, float said) { return x - said; }
  MERGEWISE_HD static float mean(float sum, std::uint32_t ranks, std::uint32_t) {
    return sum / static_cast<float>(ranks);
  }
};

}  // namespace mergewise
