// SPDX-License-Identifier: Apache-2.0
// Half-precision messages, which the collective can add up: fp16 and bf16.
#pragma once

#include "kernels/compress/arguments.hpp"
#include "kernels/primitives/half.hpp"

namespace mergewise {

struct Fp16 {
  MERGEWISE_HD static std::uint16_t from_bits(std::uint32_t bits) { return half_from_bits(bits); }
  MERGEWISE_HD static std::uint32_t to_bits(std::uint16_t half) { return bits_from_half(half); }
};

struct Bf16 {
  MERGEWISE_HD static std::uint16_t from_bits(std::uint32_t bits) { return bfloat_from_bits(bits); }
  MERGEWISE_HD static std::uint32_t to_bits(std::uint16_t half) { return bits_from_bfloat(half); }
};

/// Two bytes for each element: its P-th part, so that the sum of P ranks is their mean and does not
/// overflow. Infinities and what is no number are sent as they are.
template <typename Format>
struct Halves {
  static constexpr bool kSummed = true;
  static std::uint64_t bytes(const GroupView& group, std::uint64_t) { return 2 * group.elements; }
  static std::uint64_t scratch_bytes(const GroupView&) { return 0; }

  template <typename On>
  static void compress(const On& on, const CompressArguments& arguments) {
    const CompressArguments a = arguments;
    const auto ranks = static_cast<float>(a.ranks);
    on.for_each(a.group.elements, [=] MERGEWISE_HD(std::uint64_t i) {
      const float sum = a.memory == nullptr ? a.gradient[i] : a.gradient[i] + a.memory[i];
      store(a.message, i, Format::from_bits(bits_of(sum / ranks)));
      if (a.memory == nullptr) return;
      a.memory[i] = finite_or_zero(sum - ranks * decoded(a.message, i));
    });
  }

  /// Of the sum.
  template <typename On>
  static void decompress(const On& on, const DecompressArguments& arguments) {
    const DecompressArguments a = arguments;
    on.for_each(a.group.elements,
                [=] MERGEWISE_HD(std::uint64_t i) { a.mean[i] = decoded(a.messages, i); });
  }

 private:
  MERGEWISE_HD static float decoded(const std::byte* message, std::uint64_t i) {
    return float_of(Format::to_bits(load<std::uint16_t>(message, i)));
  }
};

}  // namespace mergewise
