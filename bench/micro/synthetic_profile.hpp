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

/// The same network under top-k: small messages by an all-gather, start-ups of compression and
/// decompression.
struct SyntheticCompression {
  double density;
  CostModel gather;
  CompressorCost costs;
};

inline Profile synthetic_profile(std::size_t tensors, const SyntheticCompression& compression) {
  Profile profile = synthetic_profile(tensors, synthetic_line());
  profile.compressor = "topk";
  profile.density = compression.density;
  profile.all_gather->isolated = compression.gather;
  profile.compressors["topk"] = compression.costs;
  return profile;
}

/// Start-ups dominate: few groups.
inline SyntheticCompression synthetic_slow_start() {
  return {0.001, LinearCost{2.5e6, 5.4}, {LinearCost{1.4e5, 0.025}, {}}};
}

/// Messages take about as long as the backward pass: many groups.
inline SyntheticCompression synthetic_balanced() {
  return {0.02, LinearCost{1e5, 17}, {LinearCost{4e4, 0.03}, {}}};
}

/// The same with decompression.
inline SyntheticCompression synthetic_decompression() {
  return {0.015625, LinearCost{1e5, 17}, {LinearCost{2e4, 0.03}, LinearCost{4e4, 0.03}}};
}

/// The same with calibrated tables for all three, with noise of 10 %.
inline SyntheticCompression synthetic_tables() {
  std::mt19937_64 engine(1);
  const auto table = [&](const LinearCost& line) {
    std::uniform_real_distribution<double> noise(0.9, 1.1);
    MeasuredCost cost;
    for (int power = 2; power < 30; ++power) {
      const Bytes bytes = Bytes{1} << power;
      cost.points.emplace_back(bytes, noise(engine) * line.at(bytes));
    }
    return cost;
  };
  return {0.015625, table({1e5, 17}), {table({2e4, 0.03}), table({4e4, 0.03})}};
}

}  // namespace mergewise
