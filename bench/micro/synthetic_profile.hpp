// SPDX-License-Identifier: Apache-2.0
// Profiles of any length for the planners' benchmarks: sizes and times spread like a convolutional
// network's, communication somewhat slower than the backward pass.
#pragma once

#include "bench/cost/profile.hpp"

#include <cmath>
#include <cstddef>
#include <random>
#include <utility>

namespace mergewise {

/// Many small tensors (biases, norms) and few large ones, log-uniform from 256 B to 4 MiB.
inline Profile synthetic_profile(std::size_t tensors, CostModel all_reduce) {
  std::mt19937_64 engine(tensors);
  std::uniform_real_distribution<double> exponent(6, 20);
  std::uniform_real_distribution<double> per_element(0.5, 3.5);  // ns of backward work
  Profile profile;
  profile.name = "synthetic";
  profile.forward_ns = 1e6;
  profile.tensors.reserve(tensors);
  for (std::size_t i = 0; i < tensors; ++i) {
    const double elements = std::floor(std::exp2(exponent(engine)));
    ProfileTensor tensor;
    tensor.bytes = 4 * static_cast<Bytes>(elements);
    tensor.backward_ns = elements * per_element(engine);
    profile.tensors.push_back(std::move(tensor));
  }
  profile.all_reduce.emplace();
  profile.all_reduce->isolated = std::move(all_reduce);
  profile.reduce_scatter.emplace().isolated = LinearCost{5e4, 0.25};
  profile.all_gather.emplace().isolated = LinearCost{5e4, 1};
  profile.ranks = 4;
  return profile;
}

/// 100 us and 16 Gbit/s.
inline LinearCost synthetic_line() { return {1e5, 0.5}; }

/// Twenty points, 1 KiB to 512 MiB, a jump between 8 and 16 KiB as real networks show.
inline MeasuredCost synthetic_table() {
  MeasuredCost cost;
  for (int power = 10; power < 30; ++power) {
    const Bytes bytes = Bytes{1} << power;
    const Nanoseconds jump = power >= 14 ? 3e5 : 0;
    cost.points.emplace_back(bytes, 1e5 + jump + 0.5 * static_cast<double>(bytes));
  }
  return cost;
}

}  // namespace mergewise
