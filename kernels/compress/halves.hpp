// SPDX-License-Identifier: Apache-2.0
// Half-precision messages, which the collective can add up: fp16 and bf16.
#pragma once

#include "bench/core/dtype.hpp"
#include "kernels/compress/arguments.hpp"
#include "kernels/primitives/half.hpp"

#include <optional>

namespace mergewise {

/// Two bytes for each element: its P-th part, so that the sum of P ranks is their mean and does not
/// overflow. Infinities and what is no number are sent as they are.
template <typename Format>
struct Halves {
  static std::optional<DType> summed_as() { return Format::kType; }
  static std::uint64_t bytes(const GroupView& group, const CompressSettings&) {
    return 2 * group.elements;
  }
  static std::uint64_t scratch_bytes(const GroupView&, const CompressSettings&) { return 0; }

  template <typename On>
  static void compress(const On& on, const CompressArguments& a) {
    on.template to_halves<Format>(a.group.elements, Accumulated{a.gradient, a.memory},
                                  static_cast<float>(a.settings.ranks), a.message, a.memory,
                                  a.facts);
  }
  /// Of the sum.
  template <typename On>
  static void decompress(const On& on, const DecompressArguments& a) {
    on.template from_halves<Format>(a.group.elements, a.messages, a.mean);
  }
};

}  // namespace mergewise
