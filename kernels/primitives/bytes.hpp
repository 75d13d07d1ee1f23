// SPDX-License-Identifier: Apache-2.0
// Numbers in messages, at whatever byte they lie, and the bits of floats.
#pragma once

#include "kernels/primitives/host_device.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace mergewise {

#ifdef __CUDA_ARCH__
/// On a GPU memcpy() goes byte by byte unless it knows better.
template <typename T>
__device__ inline bool aligned_for(const std::byte* bytes) {
  return reinterpret_cast<std::uintptr_t>(bytes) % sizeof(T) == 0;
}
#endif

/// Number `index` of those that lie one after the other from `bytes` on.
template <typename T>
MERGEWISE_HD inline T load(const std::byte* bytes, std::uint64_t index = 0) {
  const std::byte* const from = bytes + index * sizeof(T);
#ifdef __CUDA_ARCH__
  if (aligned_for<T>(from)) return *reinterpret_cast<const T*>(from);
#endif
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename T>
MERGEWISE_HD inline void store(std::byte* bytes, std::uint64_t index, T value) {
  std::byte* const to = bytes + index * sizeof(T);
#ifdef __CUDA_ARCH__
  if (aligned_for<T>(to)) {
    *reinterpret_cast<T*>(to) = value;
    return;
  }
#endif
  std::memcpy(to, &value, sizeof value);
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
