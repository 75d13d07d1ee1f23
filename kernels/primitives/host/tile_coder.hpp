// SPDX-License-Identifier: Apache-2.0
// Tiles of elements to codes of a few bits. A code is what kernels/compress/coded.hpp says.
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
  alignas(kOverrun) std::uint16_t draw[kDrawnTile + kOverrun];

  void make(const DrawKey& key, std::uint64_t first, std::uint32_t count) {
    draw_blocks(key, first / kDrawsPerBlock,
                static_cast<std::uint32_t>((count + kDrawsPerBlock - 1) / kDrawsPerBlock), draw);
  }
};

template <typename Code>
class TileCoder {
 public:
  static constexpr std::uint32_t kSize = Code::kDraws == Draws::kAll ? kDrawnTile : kTile;

  /// Codes of the at most kSize elements from `begin` on; the memory, unless null, gets what they
  /// keep. `drawn`: the number of the first one's draw.
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

}  // namespace mergewise::MERGEWISE_ISA
