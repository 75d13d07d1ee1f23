// SPDX-License-Identifier: Apache-2.0
// Groups that kernels are tried on, and numbers to fill them with.
#pragma once

#include "kernels/primitives/bytes.hpp"
#include "kernels/primitives/group_layout.hpp"

#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace mergewise {

/// Tensors that begin anywhere in a byte of codes, one beyond two chunks, single elements.
inline const std::vector<std::size_t> kAwkward{5, 1, 300, 8200, 1, 1, 2, 13, 0, 33};

/// The same elements as tensors, and as pieces of several sizes.
inline std::vector<GroupView> views_of(const GroupLayout& layout) {
  return {layout.view(), layout.pieces(64), layout.pieces(4104), as_one_piece(layout.view())};
}

/// Between -2 and 2. Of four, one is of a few special values: small, zero and, if asked for, not
/// finite.
inline std::vector<float> numbers(std::size_t n, bool finite = true) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> special = {0.0F,  -0.0F, 1e-45F,    -1e-45F,    0.5F,
                                      -0.5F, kNan,  kInfinity, -kInfinity, -kNan};
  std::mt19937 random(static_cast<unsigned>(n));
  std::vector<float> values(n);
  for (float& value : values) {
    const auto drawn = random();
    value = drawn % 4 == 0 ? special[drawn / 4 % (finite ? 6 : special.size())]
                           : static_cast<float>(drawn) / 1.1e9F - 2.0F;
  }
  return values;
}

inline std::vector<std::uint32_t> bits(const std::vector<float>& values) {
  std::vector<std::uint32_t> all;
  for (const float value : values) all.push_back(bits_of(value));
  return all;
}

}  // namespace mergewise
