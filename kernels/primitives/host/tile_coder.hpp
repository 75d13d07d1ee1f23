// SPDX-License-Identifier: Apache-2.0
// Tiles of elements to codes of a few bits, and back. A code is what kernels/compress/coded.hpp
// says.
#pragma once

#include "kernels/primitives/codes.hpp"
#include "kernels/primitives/host/instruction_set.hpp"
#include "kernels/primitives/host/tiles.hpp"
#include "kernels/primitives/philox.hpp"

#include <cstddef>
#include <cstdint>

namespace mergewise::MERGEWISE_ISA {

/// The draws of a tile's elements, of which the first is number `first`, a multiple of 8.
struct TileDraws {
  std::uint16_t draw[kTile + kOverrun];

  void make(const DrawKey& key, std::uint64_t first, std::uint32_t count) {
    draw_blocks(key, first / kDrawsPerBlock,
                static_cast<std::uint32_t>((count + kDrawsPerBlock - 1) / kDrawsPerBlock), draw);
  }
};

template <typename Code>
class TileCoder {
 public:
  /// Codes of the elements from `begin` on; the memory, unless null, gets what they keep. `drawn`:
  /// the number of the first one's draw.
  template <typename Source, typename Scale>
  void encode(const Source& source, std::uint64_t begin, std::uint32_t count, const Scale& scale,
              const DrawKey& key, std::uint64_t drawn, float* memory) {
    load_clean(source, begin, count, x_, specials_);
    std::uint8_t* const code = codes_.code + begin % TileCodes<Code::kBits>::kOfByte;
    bool draws = Code::kDraws == Draws::kAll;
    if constexpr (Code::kDraws == Draws::kOfZeros) draws = any_zero(x_, count);
    if (draws) {
      draws_.make(key, drawn, count);
      encode_values(x_, draws_.draw, count, scale, code);
    } else {
      encode_values(x_, nullptr, count, scale, code);
    }
    if (memory != nullptr) keep(x_, code, count, scale, memory + begin);
  }

  [[nodiscard]] TileCodes<Code::kBits>& codes() { return codes_; }
  [[nodiscard]] const Specials& specials() const { return specials_; }

 private:
  template <typename Scale>
  static void encode_values(const float* __restrict x, const std::uint16_t* __restrict draws,
                            std::uint32_t count, const Scale scale, std::uint8_t* __restrict code) {
    if (draws == nullptr) {
      for (std::uint32_t j = 0; j < count; ++j) {
        code[j] = static_cast<std::uint8_t>(Code::code(scale, x[j], 0));
      }
    } else {
      for (std::uint32_t j = 0; j < count; ++j) {
        code[j] = static_cast<std::uint8_t>(Code::code(scale, x[j], draws[j]));
      }
    }
  }

  template <typename Scale>
  static void keep(const float* __restrict x, const std::uint8_t* __restrict code,
                   std::uint32_t count, const Scale scale, float* __restrict memory) {
    for (std::uint32_t j = 0; j < count; ++j) {
      memory[j] = Code::kept(x[j], Code::decoded(scale, code[j]));
    }
  }

  Values x_;
  TileDraws draws_;
  TileCodes<Code::kBits> codes_;
  Specials specials_;
};

template <typename Code>
class TileDecoder {
 public:
  void clear(std::uint32_t count) {
    for (std::uint32_t j = 0; j < count; ++j) sum_[j] = 0;
  }

  /// Adds what a message says of the elements from `begin` on.
  template <typename Scale>
  void add(const std::byte* message, std::uint64_t begin, std::uint32_t count, const Scale& scale) {
    constexpr std::uint32_t kOfByte = TileCodes<Code::kBits>::kOfByte;
    const auto skipped = static_cast<std::uint32_t>(begin % kOfByte);
    codes_.unpack(message + begin / kOfByte, skipped, count);
    add_codes(codes_.code + skipped, count, scale, sum_);
  }

  void mean(std::uint32_t count, std::uint32_t ranks, const DrawKey& key, std::uint64_t drawn,
            float* means) {
    if (Code::kDraws == Draws::kOfZeros && any_zero(sum_, count)) {
      draws_.make(key, drawn, count);
      means_with(sum_, draws_.draw, count, ranks, means);
    } else {
      means_of(sum_, count, ranks, means);
    }
  }

 private:
  template <typename Scale>
  static void add_codes(const std::uint8_t* __restrict code, std::uint32_t count, const Scale scale,
                        float* __restrict sum) {
    for (std::uint32_t j = 0; j < count; ++j) sum[j] += Code::decoded(scale, code[j]);
  }
  static void means_of(const float* __restrict sum, std::uint32_t count, std::uint32_t ranks,
                       float* __restrict means) {
    for (std::uint32_t j = 0; j < count; ++j) means[j] = Code::mean(sum[j], ranks, 0);
  }
  static void means_with(const float* __restrict sum, const std::uint16_t* __restrict draws,
                         std::uint32_t count, std::uint32_t ranks, float* __restrict means) {
    for (std::uint32_t j = 0; j < count; ++j) means[j] = Code::mean(sum[j], ranks, draws[j]);
  }

  Values sum_;
  TileDraws draws_;
  TileCodes<Code::kBits> codes_;
};

}  // namespace mergewise::MERGEWISE_ISA
