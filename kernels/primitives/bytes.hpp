// SPDX-License-Identifier: Apache-2.0
// Numbers in messages, at whatever byte they lie, and the bits of floats.
#pragma once

#include "kernels/primitives/host_device.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace mergewise {

/// Number `index` of those that lie one after the other from `bytes` on.
template <typename T>
MERGEWISE_HD inline T load(const std::byte* bytes, std::uint64_t index = 0) {
  T value;
  std::memcpy(&value, bytes + index * sizeof value, sizeof value);
  return value;
}

template <typename T>
MERGEWISE_HD inline void store(std::byte* bytes, std::uint64_t index, T value) {
  std::memcpy(bytes + index * sizeof value, &value, sizeof value);
}

MERGEWISE_HD inline std::uint32_t bits_of(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

MERGEWISE_HD inline float float_of(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// std::fabs, of which a compiler might leave a copy in an object for one instruction set.
MERGEWISE_HD inline float absolute(float value) { return float_of(bits_of(value) & 0x7FFFFFFF); }

}  // namespace mergewise
