// SPDX-License-Identifier: Apache-2.0
// Compressors that send a code of a few bits for every element, and then the scales of its tensors.
//
// clang-format off
// A compressor on any device is a type with
//
//   summed_as()                    the type in which the collective adds messages up, if it does
//   bytes(group, settings)         of a message
//   scratch_bytes(group, settings) that compress() uses
//   compress(on, arguments)        by the primitives `on` (kernels/primitives/README.md)
//   decompress(on, arguments)
//
// A code is a type with
//
//   kBits                          1, 2 or 8: of element i from bit i * kBits on
//   kDraws                         which elements' codes need a draw
//   kSharedDraws                   all ranks draw alike
//   Source                         what is coded: Accumulated or Decayed
//   kScales                        floats of a tensor that follow the codes
//   kSums                          doubles of a tensor that set_scales() uses
//   Scale, scale(scales, tensor)   what code() and decoded() know of a tensor
//   set_scales(on, arguments, source, sums, scales)
//   code(scale, x, draw)           of a finite number
//   decoded(scale, code)           what it says
//   kept(x, said)                  what the memory keeps of x where its code says that
//   mean(sum, ranks, draw)         of what the ranks' codes say
// clang-format on
#pragma once

#include "bench/core/dtype.hpp"
#include "kernels/compress/arguments.hpp"
#include "kernels/primitives/codes.hpp"
#include "kernels/primitives/finite.hpp"
#include "kernels/primitives/sums.hpp"

#include <optional>

namespace mergewise {

template <typename Code>
struct Coded {
  static std::optional<DType> summed_as() { return std::nullopt; }
  static std::uint64_t bytes(const GroupView& group, const CompressSettings&) {
    return code_bytes<Code::kBits>(group.elements) + scales_bytes(group);
  }
  static std::uint64_t scratch_bytes(const GroupView& group, const CompressSettings&) {
    return sizeof(double) * Code::kSums * group.tensors;
  }

  template <typename On>
  static void compress(const On& on, const CompressArguments& arguments) {
    const CompressArguments& a = arguments;
    const auto source = source_of(a, static_cast<typename Code::Source*>(nullptr));
    std::byte* const scales = scales_of(a.group, a.message);
    MessageFacts* facts = a.facts;  // of the first pass that sees all elements
    if constexpr (Code::kSums > 0) {
      Code::set_scales(on, a, source, reinterpret_cast<double*>(a.scratch), scales);
      facts = nullptr;
    }
    DrawKey draws = a.draws;
    if constexpr (Code::kSharedDraws) draws.stream = 0;
    on.template encode<Code>(a.group, draws, source, scales, a.message, a.memory, facts);
  }

  template <typename On>
  static void decompress(const On& on, const DecompressArguments& arguments) {
    const DecompressArguments& a = arguments;
    on.template mean_of_codes<Code>(a.group, a.draws, a.messages, a.stride,
                                    code_bytes<Code::kBits>(a.group.elements), a.settings.ranks,
                                    a.mean);
  }

 private:
  MERGEWISE_HD static std::uint64_t scales_bytes(const GroupView& group) {
    return sizeof(float) * Code::kScales * group.tensors;
  }
  MERGEWISE_HD static std::byte* scales_of(const GroupView& group, std::byte* message) {
    return message + code_bytes<Code::kBits>(group.elements);
  }
  MERGEWISE_HD static Accumulated source_of(const CompressArguments& a, const Accumulated*) {
    return {a.gradient, a.memory};
  }
  MERGEWISE_HD static Decayed source_of(const CompressArguments& a, const Decayed*) {
    return {a.gradient, a.memory, a.settings.momentum};
  }
};

}  // namespace mergewise
