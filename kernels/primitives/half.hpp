// SPDX-License-Identifier: Apache-2.0
// IEEE 754 binary16 (fp16) and bfloat16 from and to fp32, by integer arithmetic: the same bits on
// every device. Rounds to nearest, ties to even, as the hardware does.
#pragma once

#include "bench/core/dtype.hpp"
#include "kernels/primitives/host_device.hpp"

#include <cstdint>

namespace mergewise {

/// The bits of the fp16 nearest to the float of these bits. From 65520 on Inf, below 2^-25 (and at
/// it) zero of the same sign; a NaN stays one (made quiet, the upper bits of its payload kept).
MERGEWISE_HD constexpr std::uint16_t half_from_bits(std::uint32_t bits) {
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000);
  const std::uint32_t magnitude = bits & 0x7FFFFFFF;
  std::uint32_t half = 0;
  if (magnitude > 0x7F800000) {
    half = 0x7E00 | ((magnitude >> 13) & 0x03FF);
  } else if (magnitude >= 0x47800000) {  // 2^16
    half = 0x7C00;
  } else if (magnitude >= 0x38800000) {  // 2^-14, the smallest normal number
    const std::uint32_t odd = (magnitude >> 13) & 1;
    half = (magnitude - 0x38000000 + 0x0FFF + odd) >> 13;
  } else if (magnitude > 0x33000000) {  // 2^-25, half of the smallest number
    const std::uint32_t shift = 126 - (magnitude >> 23);
    const std::uint32_t mantissa = (magnitude & 0x007FFFFF) | 0x00800000;
    const std::uint32_t odd = (mantissa >> shift) & 1;
    half = (mantissa + (1U << (shift - 1)) - 1 + odd) >> shift;
  }
  return static_cast<std::uint16_t>(sign | half);
}

/// The bits of the float that has the value of this fp16.
MERGEWISE_HD constexpr std::uint32_t bits_from_half(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1F;
  std::uint32_t mantissa = half & 0x03FF;
  if (exponent == 0x1F) return sign | 0x7F800000 | (mantissa << 13);
  if (exponent != 0) return sign | ((exponent + 112) << 23) | (mantissa << 13);
  if (mantissa == 0) return sign;
  std::uint32_t scale = 113;  // of 2^-14
  while ((mantissa & 0x0400) == 0) {
    mantissa <<= 1;
    --scale;
  }
  return sign | (scale << 23) | ((mantissa & 0x03FF) << 13);
}

/// The bits of the bfloat16 nearest to the float of these bits. A NaN stays one.
MERGEWISE_HD constexpr std::uint16_t bfloat_from_bits(std::uint32_t bits) {
  if ((bits & 0x7FFFFFFF) > 0x7F800000) return static_cast<std::uint16_t>((bits >> 16) | 0x0040);
  return static_cast<std::uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

/// The bits of the float that has the value of this bfloat16.
MERGEWISE_HD constexpr std::uint32_t bits_from_bfloat(std::uint16_t bfloat) {
  return static_cast<std::uint32_t>(bfloat) << 16;
}

/// The formats, as types.
struct Fp16 {
  static constexpr DType kType = DType::kFloat16;
  MERGEWISE_HD static std::uint16_t from_bits(std::uint32_t bits) { return half_from_bits(bits); }
  MERGEWISE_HD static std::uint32_t to_bits(std::uint16_t half) { return bits_from_half(half); }
};

struct Bf16 {
  static constexpr DType kType = DType::kBfloat16;
  MERGEWISE_HD static std::uint16_t from_bits(std::uint32_t bits) { return bfloat_from_bits(bits); }
  MERGEWISE_HD static std::uint32_t to_bits(std::uint16_t half) { return bits_from_bfloat(half); }
};

}  // namespace mergewise
