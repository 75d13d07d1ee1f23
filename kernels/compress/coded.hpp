// SPDX-License-Identifier: Apache-2.0
// Compressors that send a code for every element, and what they share. A compressor on any device
// is a type with
//
//   kSummed                         the collective adds messages up (all-reduce)
//   bytes(group, k)                 of a message
//   scratch_bytes(group)            that compress() uses
//   compress(on, arguments)         by the primitives `on`
//   decompress(on, arguments)
//
// A code has
//   bytes(group)                    of a message
//   scratch_bytes(group)            that encode() uses
//   encode(on, arguments, value)    writes the message of value(i), by the primitives `on`
//   Decoder(group, message)         (i, tensor) -> what a message says of element i
#pragma once

#include "kernels/compress/arguments.hpp"

namespace mergewise {

/// The mean over ranks of what their messages say; the memory keeps what they do not.
template <typename Code>
struct MeanOfCodes {
  static constexpr bool kSummed = false;
  static std::uint64_t bytes(const GroupView& group, std::uint64_t) { return Code::bytes(group); }
  static std::uint64_t scratch_bytes(const GroupView& group) { return Code::scratch_bytes(group); }

  template <typename On>
  static void compress(const On& on, const CompressArguments& arguments) {
    const Accumulated value{arguments.gradient, arguments.memory};
    Code::encode(on, arguments, value);
    if (arguments.memory == nullptr) return;
    const typename Code::Decoder decoded{arguments.group, arguments.message};
    float* const memory = arguments.memory;
    on.for_each_chunk(arguments.group, [=] MERGEWISE_HD(const Chunk& chunk) {
      for (std::uint64_t i = chunk.begin; i < chunk.begin + chunk.count; ++i) {
        memory[i] = value(i) - decoded(i, chunk.tensor);
      }
    });
  }

  template <typename On>
  static void decompress(const On& on, const DecompressArguments& arguments) {
    const DecompressArguments a = arguments;
    on.for_each_chunk(a.group, [=] MERGEWISE_HD(const Chunk& chunk) {
      for (std::uint64_t i = chunk.begin; i < chunk.begin + chunk.count; ++i) {
        float sum = 0;
        for (std::uint32_t rank = 0; rank < a.ranks; ++rank) {
          const typename Code::Decoder decoded{a.group, a.messages + rank * a.stride};
          sum += decoded(i, chunk.tensor);
        }
        a.mean[i] = sum / static_cast<float>(a.ranks);
      }
    });
  }
};

}  // namespace mergewise
