// SPDX-License-Identifier: Apache-2.0
// Profiles that every strategy must be able to plan.
#pragma once

#include "bench/cost/profile.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace mergewise::test {

inline ProfileTensor tensor(Bytes bytes, Nanoseconds backward) {
  ProfileTensor made;
  made.bytes = bytes;
  made.backward_ns = backward;
  return made;
}

inline CollectiveCost line(Nanoseconds start, Nanoseconds per_byte) {
  CollectiveCost cost;
  cost.isolated = LinearCost{start, per_byte};
  return cost;
}

inline Profile profile_of(std::vector<ProfileTensor> tensors) {
  Profile profile;
  profile.name = "contract";
  profile.forward_ns = 100;
  profile.ranks = 4;
  profile.tensors = std::move(tensors);
  profile.all_reduce = line(5000, 0.5);
  profile.all_gather = line(2500, 1);
  profile.reduce_scatter = line(2500, 0.25);
  return profile;
}

inline Profile random_profile(std::size_t count) {
  std::mt19937_64 engine(count);
  std::uniform_int_distribution<int> number(0, 9999);
  std::vector<ProfileTensor> tensors;
  for (std::size_t i = 0; i < count; ++i) {
    const int bytes = number(engine);
    tensors.push_back(tensor(bytes < 500 ? 0 : 4 * bytes, number(engine)));
  }
  return profile_of(std::move(tensors));
}

/// Times and sizes as networks have them: milliseconds, up to megabytes, so that caps and cycles
/// decide something; some tensors share a layer.
inline Profile network(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> unit(0, 1);
  Profile profile = random_profile(count);
  std::size_t layer = 0;
  for (ProfileTensor& made : profile.tensors) {
    made.bytes = 4 * static_cast<Bytes>(std::exp2(22 * unit(engine)));
    made.backward_ns = unit(engine) < 0.25 ? 0 : 2e6 * unit(engine);
    if (unit(engine) < 0.6) ++layer;
    made.layer = "layer" + std::to_string(layer);
  }
  const Nanoseconds start = 3e6 * unit(engine);
  const Nanoseconds per_byte = 8 * unit(engine);
  profile.forward_ns = 50e6;
  profile.all_reduce = line(start, per_byte);
  profile.all_gather = line(start / 2, 2 * per_byte);
  profile.reduce_scatter = line(start / 2, per_byte / 2);
  return profile;
}

inline Profile with_table(Profile profile) {
  profile.all_reduce->isolated =
      MeasuredCost{{{1000, 4e4}, {50000, 3e4}, {1000000, 9e5}, {1100000, 4e6}, {80000000, 2e8}}};
  return profile;
}

inline Profile compressed(Profile profile) {
  profile.compressor = "topk";
  profile.density = 0.01;
  profile.compressors["topk"] = {.compress = LinearCost{1e5, 0.05},
                                 .decompress = LinearCost{5e4, 0.02}};
  profile.pack = LinearCost{1e4, 0.01};
  profile.update = LinearCost{2e4, 0.01};
  return profile;
}

}  // namespace mergewise::test
