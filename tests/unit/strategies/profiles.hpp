// SPDX-License-Identifier: Apache-2.0
// Profiles for tests: written by hand or drawn at random, with the corners that break planners.
#pragma once

#include "bench/cost/profile.hpp"
#include "bench/plan/timeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace mergewise::test {

struct Tensor {
  Bytes bytes;
  Nanoseconds backward;
};

inline Profile profile_of(const std::vector<Tensor>& tensors, CostModel all_reduce) {
  Profile profile;
  profile.name = "test";
  profile.forward_ns = 1000;
  for (const auto& [bytes, backward] : tensors) {
    ProfileTensor tensor;
    tensor.bytes = bytes;
    tensor.backward_ns = backward;
    profile.tensors.push_back(std::move(tensor));
  }
  profile.all_reduce.emplace();
  profile.all_reduce->isolated = std::move(all_reduce);
  return profile;
}

/// What a random profile may contain besides ordinary values.
struct Shape {
  bool zero_times = false;  ///< many tensors with backward time 0: equal ready times
  bool empty_tensors = false;
  bool small_integers = false;  ///< few distinct values, so that exact ties are common
  double scale = 1;             ///< of times and bytes: huge values
};

/// Every combination, at two scales.
inline std::vector<Shape> all_shapes() {
  std::vector<Shape> shapes;
  for (int bits = 0; bits < 8; ++bits) {
    for (const double scale : {1.0, 1e7}) {
      shapes.push_back({(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, scale});
    }
  }
  return shapes;
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::int64_t integer(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }
  bool one_in(int n) { return integer(1, n) == 1; }

  std::vector<Tensor> tensors(std::size_t count, const Shape& shape) {
    std::vector<Tensor> made;
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t largest = shape.small_integers ? 4 : (one_in(4) ? 500000 : 5000);
      Tensor tensor{4 * integer(1, largest), static_cast<Nanoseconds>(integer(1, 4 * largest))};
      if (shape.zero_times && one_in(2)) tensor.backward = 0;
      if (shape.empty_tensors && one_in(3)) tensor.bytes = 0;
      tensor.bytes = 4 * static_cast<Bytes>(static_cast<double>(tensor.bytes) / 4 * shape.scale);
      tensor.backward *= shape.scale;
      made.push_back(tensor);
    }
    return made;
  }

  /// A line whose start-up and slope are of the size of the tensors' times, or 0.
  LinearCost line(const Shape& shape) {
    const double slopes[] = {0, 0.25, 0.5, 1, 2};
    const std::int64_t start = one_in(5) ? 0 : integer(1, shape.small_integers ? 20 : 50000);
    return {static_cast<double>(start) * shape.scale, slopes[integer(0, 4)]};
  }

  /// A table with jumps and dips, over the sizes that groups of `total` bytes can have.
  MeasuredCost table(Bytes total) {
    MeasuredCost cost;
    Bytes bytes = integer(1, std::max<Bytes>(2, total / 20));
    for (std::int64_t points = integer(1, 12); points > 0; --points) {
      cost.points.emplace_back(bytes, static_cast<double>(integer(0, 100000)));
      bytes += integer(1, std::max<Bytes>(2, total / 8));
    }
    return cost;
  }

 private:
  std::mt19937_64 engine_;
};

inline Bytes total_bytes(const std::vector<Tensor>& tensors) {
  Bytes total = 0;
  for (const Tensor& tensor : tensors) total += tensor.bytes;
  return total;
}

/// Relative: what different ways to add up the same times differ by.
inline constexpr double kRounding = 1e-12;

inline void expect_same_time(Nanoseconds actual, Nanoseconds expected) {
  EXPECT_NEAR(actual, expected, kRounding * expected);
}

/// The least iteration over all 2^(L-1) partitions into consecutive groups.
inline Nanoseconds brute_force(const TimeModel& model) {
  const std::size_t count = model.tensor_count();
  Nanoseconds least = std::numeric_limits<double>::infinity();
  for (std::size_t borders = 0; borders < (std::size_t{1} << (count - 1)); ++borders) {
    std::vector<std::size_t> ends;
    for (std::size_t i = 1; i < count; ++i) {
      if ((borders >> (i - 1)) & 1U) ends.push_back(i);
    }
    ends.push_back(count);
    least = std::min(least, predict_iteration(model, ends));
  }
  return least;
}

}  // namespace mergewise::test
