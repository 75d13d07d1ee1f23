// SPDX-License-Identifier: Apache-2.0
// A sample of a tensor's elements, from which a threshold for its largest ones is taken.
#pragma once

#include "kernels/primitives/host_device.hpp"

#include <cstdint>

namespace mergewise {

/// `count` of n elements, evenly spread from one that is drawn; the threshold is the magnitude that
/// is the `selected`th largest of them.
struct Sample {
  std::uint64_t n;
  std::uint64_t count;
  std::uint64_t selected;
  std::uint64_t start;

  MERGEWISE_HD std::uint64_t place(std::uint64_t j) const {
    const std::uint64_t spread = j * (n / count) + j * (n % count) / count;  // floor(j n / count)
    return (start + spread) % n;
  }
};

/// Of n > 0 elements: a hundredth, at least 256 of them, or all. `drawn` decides where it starts.
MERGEWISE_HD inline Sample sample_of(std::uint64_t n, double density, std::uint32_t drawn) {
  constexpr std::uint64_t kLeast = 256;
  const std::uint64_t hundredth = n / 100 + (n % 100 != 0 ? 1 : 0);
  const std::uint64_t wanted = hundredth > kLeast ? hundredth : kLeast;
  const std::uint64_t count = n < wanted ? n : wanted;
  const auto floored = static_cast<std::uint64_t>(density * static_cast<double>(count));
  const std::uint64_t selected = floored < 1 ? 1 : floored > count ? count : floored;
  return {n, count, selected, drawn % n};
}

}  // namespace mergewise
