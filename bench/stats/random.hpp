// SPDX-License-Identifier: Apache-2.0
// A small random generator that gives the same numbers on every machine, which the standard
// library's distributions do not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace mergewise {

/// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014).
class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  /// Uniform in [0, count), 0 < count < 2^32, by the upper 32 bits; the bias is below count / 2^32.
  std::size_t below(std::size_t count) {
    return static_cast<std::size_t>(((next() >> 32) * static_cast<std::uint64_t>(count)) >> 32);
  }

 private:
  std::uint64_t state_;
};

/// Every order is equally likely (Fisher and Yates).
inline void shuffle(std::vector<std::size_t>& values, SplitMix64& random) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random.below(i)]);
}

}  // namespace mergewise
