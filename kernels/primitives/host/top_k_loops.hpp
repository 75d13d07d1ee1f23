// SPDX-License-Identifier: Apache-2.0
// The hot loops of top_k(), one set for each instruction set. Included by sources that are compiled
// for several of them: plain data and declarations only, no inline code (README.md says why).
#pragma once

#include <cstdint>

namespace mergewise {

/// A float's bits without its sign, read as an integer, are monotone in the magnitude; what is
/// above infinity's is NaN.
constexpr std::int32_t kInfinityBits = 0x7f800000;

/// Takes, in order, the elements whose magnitude bits are above the threshold, and the first `ties`
/// of those equal to it, NaN aside.
template <typename Index>
struct CollectJob {
  const float* values;
  std::int64_t count;
  const Index* indices;  ///< of the values; null: first, first + 1, ...
  Index first;
  std::int32_t threshold;
  std::int64_t ties;
  std::int64_t room;  ///< how many fit into the output: stops before one more
  Index* out_indices;
  float* out_values;
};

struct Collected {
  std::int64_t taken;
  std::int64_t nans;  ///< among the elements read
  std::int64_t read;  ///< less than the job's count if there was no room
};

/// Counts the digit (magnitude >> shift) & (2^bits - 1) of the elements with magnitude >>
/// prefix_shift == prefix, NaN aside. Element i goes to copy i % copies of the bins, `copies` (1 or
/// 2) times 2^bits of them, since an increment waits for the one before of the same bin.
struct HistogramJob {
  const float* values;
  std::int64_t count;
  std::int32_t prefix;
  int prefix_shift;
  int shift;
  int bits;
  int copies;
  std::int64_t* bins;
};

struct TopKLoops {
  Collected (*collect32)(const CollectJob<std::int32_t>& job);
  Collected (*collect64)(const CollectJob<std::int64_t>& job);
  void (*histogram)(const HistogramJob& job);
};

namespace baseline {
[[nodiscard]] const TopKLoops& top_k_loops();
}
namespace avx2 {
[[nodiscard]] const TopKLoops& top_k_loops();
}
namespace avx512 {
[[nodiscard]] const TopKLoops& top_k_loops();
}

}  // namespace mergewise
