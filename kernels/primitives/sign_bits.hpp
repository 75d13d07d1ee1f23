// SPDX-License-Identifier: Apache-2.0
// One bit for each number: how many bytes they take, on any device.
#pragma once

#include "kernels/primitives/host_device.hpp"

#include <cstdint>

namespace mergewise {

/// Bit i % 8 of byte i / 8 is that of number i; the last byte's other bits are 0.
MERGEWISE_HD constexpr std::uint64_t sign_bytes(std::uint64_t n) {
  return n / 8 + (n % 8 != 0 ? 1 : 0);
}

}  // namespace mergewise
