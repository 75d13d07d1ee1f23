// SPDX-License-Identifier: Apache-2.0
// Several sums over the same elements.
#pragma once

#include "kernels/primitives/host_device.hpp"

#include <cstddef>

namespace mergewise {

/// What an element adds to each of N sums.
template <typename T, std::size_t N>
struct Sums {
  using Number = T;
  static constexpr std::size_t kCount = N;
  T value[N];
};

}  // namespace mergewise
