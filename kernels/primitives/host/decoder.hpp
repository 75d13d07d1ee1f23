// SPDX-License-Identifier: Apache-2.0
// What ranks' codes say of a chunk, and its mean. A code is what kernels/compress/coded.hpp says.
#pragma once

#include "kernels/primitives/group_layout.hpp"
#include "kernels/primitives/host/instruction_set.hpp"
#include "kernels/primitives/host/parts.hpp"
#include "kernels/primitives/host/tile_coder.hpp"
#include "kernels/primitives/host/vectors.hpp"
#include "kernels/primitives/philox.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace mergewise::MERGEWISE_ISA {

/// All ranks' messages.
struct Messages {
  const std::byte* first;
  std::uint64_t stride;
  std::uint64_t scales_at;
  std::uint32_t ranks;

  [[nodiscard]] const std::byte* codes(std::uint32_t rank) const { return first + rank * stride; }
  [[nodiscard]] const std::byte* scales(std::uint32_t rank) const {
    return codes(rank) + scales_at;
  }
};

/// Sums and their means, a few elements at a time: sums stay in registers, and nothing but means
/// waits to be stored.
template <typename Code>
class Decoder {
 public:
  explicit Decoder(const Messages& messages) : messages_(messages) {}

  /// `key`: of the chunk's tensor.
  void decode(const Chunk& chunk, const DrawKey& key, float* means) {
    for (std::uint32_t j = 0; j < chunk.count; j += kStep) {
      const std::uint32_t left = chunk.count - j;
      const std::uint64_t begin = chunk.begin + j;
      const std::uint64_t drawn = chunk.offset + j;
      if (left > kStep) {
        step(chunk.tensor, begin, kStep, true, key, drawn, means + begin);
      } else {
        step(chunk.tensor, begin, left, false, key, drawn, means + begin);
      }
    }
  }

 private:
  static constexpr std::uint32_t kStep = Code::kBits == 8 ? kTile : 64 / Code::kBits;

  // The byte behind the last code may be nobody's, unless there are more.
  [[gnu::always_inline]] void step(std::uint32_t tensor, std::uint64_t begin, std::uint32_t count,
                                   bool more, const DrawKey& key, std::uint64_t drawn,
                                   float* means) {
    constexpr std::uint32_t kLine = 64 / sizeof(float);
    for (std::uint32_t i = 0; i < kStep; i += kLine) __builtin_prefetch(means + kWritten + i, 1);
    alignas(kOverrun) float sum[kStep];
    add_up(tensor, begin, count, more, sum);
    mean(sum, count, key, drawn, means);
  }

  // How far ahead memory is asked for: messages are read too slowly, many at once, and means are
  // written in too short rows for processors to foresee. Without, it takes half as long again.
  static constexpr std::uint64_t kRead = 512;      // bytes of each message
  static constexpr std::uint64_t kWritten = 1024;  // elements

  [[gnu::always_inline]] void add_up(std::uint32_t tensor, std::uint64_t begin, std::uint32_t count,
                                     bool more, float* sum) {
    if constexpr (Code::kBits == 8) {
      for (std::uint32_t rank = 0; rank < messages_.ranks; ++rank) {
        add_bytes(messages_.codes(rank) + begin, count, Code::scale(messages_.scales(rank), tensor),
                  rank == 0, sum);
      }
    } else {
      Floats sums[kStep / kFloats] = {};
      for (std::uint32_t rank = 0; rank < messages_.ranks; ++rank) {
        const auto scale = Code::scale(messages_.scales(rank), tensor);
        float said[1 << Code::kBits];
        for (unsigned code = 0; code < 1U << Code::kBits; ++code) {
          said[code] = Code::decoded(scale, code);
        }
        const Meanings<Code::kBits> meanings(said);
        __builtin_prefetch(messages_.codes(rank) + begin * Code::kBits / 8 + kRead);
        const std::uint64_t codes =
            bits_at(messages_.codes(rank), begin * Code::kBits, count * Code::kBits, more);
        for (std::uint32_t i = 0; i < kStep / kFloats; ++i) {
          sums[i] += meanings.of(codes >> (i * kFloats * Code::kBits));
        }
      }
      std::memcpy(sum, sums, sizeof sums);
    }
  }

  template <typename Scale>
  static void add_bytes(const std::byte* __restrict codes, std::uint32_t count, const Scale scale,
                        bool first, float* __restrict sum) {
    for (std::uint32_t j = 0; j < count; ++j) {
      const float said = Code::decoded(scale, static_cast<unsigned>(codes[j]));
      sum[j] = (first ? 0.0F : sum[j]) + said;
    }
  }

  // `drawn`: the number of the first element's draw.
  [[gnu::always_inline]] void mean(const float* sum, std::uint32_t count, const DrawKey& key,
                                   std::uint64_t drawn, float* means) {
    if (Code::kDraws == Draws::kOfZeros && any_zero(sum, count)) {
      draws_.make(key, drawn, count);
      for (std::uint32_t j = 0; j < count; ++j) {
        means[j] = Code::mean(sum[j], messages_.ranks, draws_.draw[j]);
      }
      return;
    }
    // Divisions by a constant power of two become multiplications, to the same bits.
    switch (messages_.ranks) {
      case 2:
        return means_of(sum, 2, count, means);
      case 4:
        return means_of(sum, 4, count, means);
      case 8:
        return means_of(sum, 8, count, means);
      default:
        return means_of(sum, messages_.ranks, count, means);
    }
  }

  [[gnu::always_inline]] void means_of(const float* sum, std::uint32_t ranks, std::uint32_t count,
                                       float* means) {
    for (std::uint32_t j = 0; j < count; ++j) means[j] = Code::mean(sum[j], ranks, 0);
  }

  const Messages messages_;
  TileDraws draws_;
};

}  // namespace mergewise::MERGEWISE_ISA
