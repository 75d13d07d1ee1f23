// SPDX-License-Identifier: Apache-2.0
// What every compressor's parts are given, on any device. Pointers are to that device's memory and
// not owned; arrays of elements have group.elements of them.
#pragma once

#include "kernels/primitives/bytes.hpp"
#include "kernels/primitives/group_layout.hpp"
#include "kernels/primitives/message_facts.hpp"
#include "kernels/primitives/philox.hpp"

#include <cstddef>
#include <cstdint>

namespace mergewise {

/// What its options make of a compressor.
struct CompressSettings {
  std::uint32_t ranks;
  std::uint64_t selected;  ///< k of the sparse ones
  double density;          ///< of this iteration
  float momentum;
  double clip;
  std::uint64_t vector_elements;       ///< GroupLayout's
  const std::uint64_t* vector_begins;  ///< GroupLayout's, in the memory of the device
  int parts;                           ///< of a message
  bool dense_vectors;
};

struct CompressArguments {
  GroupView group;
  const float* gradient;
  /// What was left of earlier iterations, or the momentum: read and written. Null without memory.
  float* memory;
  std::byte* message;   ///< aligned to 8 bytes
  std::byte* scratch;   ///< aligned to 8 bytes
  MessageFacts* facts;  ///< bytes are those of a full message, counts are 0
  DrawKey draws;        ///< of this rank; which tensor they are for is the group's matter
  CompressSettings settings;
};

struct DecompressArguments {
  GroupView group;
  /// Of all ranks one after the other, `stride` bytes apart; where the collective added them up,
  /// the sum.
  const std::byte* messages;
  std::uint64_t stride;
  const std::uint64_t* bytes;  ///< of each rank's message where they vary, else null
  float* mean;
  DrawKey draws;  ///< shared by all ranks: of stream 0
  float factor;   ///< of what the sparse ones say: n / k makes up for what is never sent, else 1
  CompressSettings settings;
};

/// A gradient with what was left of it in earlier iterations.
struct Accumulated {
  const float* gradient;
  const float* memory;
  MERGEWISE_HD float operator()(std::uint64_t i) const {
    return memory == nullptr ? gradient[i] : gradient[i] + memory[i];
  }
};

/// Momentum after this gradient.
struct Decayed {
  const float* gradient;
  const float* memory;
  float momentum;
  MERGEWISE_HD float operator()(std::uint64_t i) const {
    return momentum * memory[i] + (1 - momentum) * gradient[i];
  }
};

}  // namespace mergewise
