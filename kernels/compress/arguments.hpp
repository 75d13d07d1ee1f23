// SPDX-License-Identifier: Apache-2.0
// What every compressor's parts are given, on any device. Pointers are to that device's memory and
// not owned; arrays of elements have group.elements of them.
#pragma once

#include "kernels/primitives/bytes.hpp"
#include "kernels/primitives/group_layout.hpp"
#include "kernels/primitives/philox.hpp"

#include <cstddef>
#include <cstdint>

namespace mergewise {

struct CompressArguments {
  GroupView group;
  const float* gradient;
  /// What was left of earlier iterations, or the momentum: read and written. Null without memory.
  float* memory;
  std::byte* message;  ///< aligned to 4 bytes
  std::byte* scratch;  ///< aligned to 8 bytes
  DrawKey draws;       ///< of this rank; which tensor they are for is the group's matter
  std::uint32_t ranks;
  std::uint64_t selected;  ///< k of the sparse ones
};

struct DecompressArguments {
  GroupView group;
  /// Of all ranks one after the other, `stride` bytes apart; where the collective added them up,
  /// the sum.
  const std::byte* messages;
  std::uint64_t stride;
  float* mean;
  DrawKey draws;  ///< shared by all ranks: of stream 0
  std::uint32_t ranks;
  std::uint64_t selected;
  float factor;  ///< of what the sparse ones say: n / k makes up for what is never sent, else 1
};

/// Infinities and what is no number count as 0: they would spoil every scale and stay in the
/// residual for ever.
MERGEWISE_HD inline float finite_or_zero(float value) {
  return (bits_of(value) & 0x7F800000) == 0x7F800000 ? 0.0F : value;
}

/// A gradient with what was left of it in earlier iterations.
struct Accumulated {
  const float* gradient;
  const float* memory;
  MERGEWISE_HD float operator()(std::uint64_t i) const {
    return finite_or_zero(memory == nullptr ? gradient[i] : gradient[i] + memory[i]);
  }
};

/// The key of a tensor's own draws.
MERGEWISE_HD inline DrawKey of_tensor(const GroupView& group, DrawKey key, std::uint32_t tensor) {
  key.tensor = group.ids[tensor];
  return key;
}

}  // namespace mergewise
