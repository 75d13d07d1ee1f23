// SPDX-License-Identifier: Apache-2.0
// Codes of 1, 2 or 8 bits for each element, packed into bytes, lowest bits first. A byte's bits
// beyond the last element are 0.
#pragma once

#include "kernels/primitives/host_device.hpp"

#include <cstddef>
#include <cstdint>

namespace mergewise {

/// Which elements' codes depend on a draw: a device need not draw for the others.
enum class Draws { kNone, kOfZeros, kAll };

template <unsigned kBits>
MERGEWISE_HD constexpr std::uint64_t code_bytes(std::uint64_t n) {
  static_assert(kBits == 1 || kBits == 2 || kBits == 8);
  constexpr std::uint64_t kOfByte = 8 / kBits;
  return n / kOfByte + (n % kOfByte != 0 ? 1 : 0);
}

/// Element i's.
template <unsigned kBits>
MERGEWISE_HD inline unsigned code_at(const std::byte* codes, std::uint64_t i) {
  constexpr std::uint64_t kOfByte = 8 / kBits;
  const auto byte = static_cast<unsigned>(codes[i / kOfByte]);
  return byte >> (kBits * static_cast<unsigned>(i % kOfByte)) & ((1U << kBits) - 1);
}

}  // namespace mergewise
