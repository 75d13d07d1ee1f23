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
  alignas(kOverrun) std::uint16_t draw[kTile + kOverrun];

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
    tile_.load(source, begin, count, specials_);
    const bool zeros = Code::kDraws == Draws::kOfZeros && tile_.has_zero();
    if (Code::kDraws == Draws::kAll || zeros) {
      draws_.make(key, drawn, count);
      encode_values(tile_.value, draws_.draw, count, scale, codes_.code);
    } else {
      encode_values(tile_.value, nullptr, count, scale, codes_.code);
    }
    if (memory != nullptr) keep(tile_.value, codes_.code, count, scale, memory + begin);
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

  Tile tile_;
  TileDraws draws_;
  TileCodes<Code::kBits> codes_;
  Specials specials_;
};

/// Adds up what messages say of a tile's elements.
template <typename Code>
class TileDecoder {
 public:
  /// Of the `count` elements from `begin` on.
  void start(std::uint64_t begin, std::uint32_t count) {
    begin_ = begin;
    count_ = count;
    first_ = true;
  }

  template <typename Scale>
  void add(const std::byte* message, const Scale& scale) {
    const std::byte* const codes = message + begin_ / kOfByte;
    if constexpr (Code::kBits == 8) {
      add_bytes(codes, count_, scale, first_, sum_);
    } else {
      float meanings[1 << Code::kBits];
      for (unsigned code = 0; code < 1U << Code::kBits; ++code) {
        meanings[code] = Code::decoded(scale, code);
      }
      add_meanings<Code::kBits>(codes, skipped() + count_, meanings, first_, sum_);
    }
    first_ = false;
  }

  /// `drawn`: the number of the first element's draw.
  void mean(std::uint32_t ranks, const DrawKey& key, std::uint64_t drawn, float* means) {
    const float* const sums = sum_ + skipped();
    if (Code::kDraws == Draws::kOfZeros && any_zero(sums, count_)) {
      draws_.make(key, drawn, count_);
      means_with(sums, draws_.draw, count_, ranks, means);
    } else {
      // Divisions by a constant power of two become multiplications, to the same bits.
      switch (ranks) {
        case 2:
          return means_of(sums, count_, 2, means);
        case 4:
          return means_of(sums, count_, 4, means);
        case 8:
          return means_of(sums, count_, 8, means);
        default:
          return means_of(sums, count_, ranks, means);
      }
    }
  }

 private:
  static constexpr std::uint32_t kOfByte = 8 / Code::kBits;

  // Elements of the first one's byte that stand before it: their sums are made too.
  [[nodiscard]] std::uint32_t skipped() const {
    return static_cast<std::uint32_t>(begin_ % kOfByte);
  }
  template <typename Scale>
  static void add_bytes(const std::byte* __restrict codes, std::uint32_t count, const Scale scale,
                        bool first, float* __restrict sum) {
    for (std::uint32_t j = 0; j < count; ++j) {
      const float said = Code::decoded(scale, static_cast<unsigned>(codes[j]));
      sum[j] = (first ? 0.0F : sum[j]) + said;
    }
  }
  [[gnu::always_inline]] static void means_of(const float* __restrict sum, std::uint32_t count,
                                              std::uint32_t ranks, float* __restrict means) {
    for (std::uint32_t j = 0; j < count; ++j) means[j] = Code::mean(sum[j], ranks, 0);
  }
  static void means_with(const float* __restrict sum, const std::uint16_t* __restrict draws,
                         std::uint32_t count, std::uint32_t ranks, float* __restrict means) {
    for (std::uint32_t j = 0; j < count; ++j) means[j] = Code::mean(sum[j], ranks, draws[j]);
  }

  std::uint64_t begin_ = 0;
  std::uint32_t count_ = 0;
  bool first_ = true;  // message
  alignas(kOverrun) float sum_[kTile + kOfByte + kOverrun / sizeof(float)];
  TileDraws draws_;
};

}  // namespace mergewise::MERGEWISE_ISA
