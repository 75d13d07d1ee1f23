// SPDX-License-Identifier: Apache-2.0
// Tiles: so many elements that what is made of them on the way stays in the first cache.
#pragma once

#include "kernels/primitives/codes.hpp"
#include "kernels/primitives/finite.hpp"
#include "kernels/primitives/host/instruction_set.hpp"
#include "kernels/primitives/host/vectors.hpp"
#include "kernels/primitives/sums.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace mergewise::MERGEWISE_ISA {

/// Elements of a tile at the most: multiples of what one call of philox() draws, of the lanes of
/// sums and of kOverrun; divisors of kChunk. Small enough that what a tile writes waits in the
/// processor's store queue while the next one is made; larger where draws take most of the time.
inline constexpr std::uint32_t kTile = 256;
inline constexpr std::uint32_t kDrawnTile = 512;

/// Elements that are no finite numbers.
struct Specials {
  std::uint64_t nans = 0;
  std::uint64_t infinities = 0;
};

/// Asks for a tile a few tiles ahead: what is made of one takes so long that processors do not
/// foresee the others. Nothing for a source that computes places.
template <typename Source>
inline void foresee(const Source& source, std::uint64_t begin) {
  if constexpr (requires { source.gradient + begin, source.memory + begin; }) {
    constexpr std::uint64_t kLine = 64 / sizeof(float);
    constexpr std::uint64_t kAhead = std::uint64_t{6} * kTile;
    for (std::uint64_t i = 0; i < kTile; i += kLine) {
      __builtin_prefetch(source.gradient + begin + kAhead + i);
    }
    if (source.memory == nullptr) return;
    for (std::uint64_t i = 0; i < kTile; i += kLine) {
      __builtin_prefetch(source.memory + begin + kAhead + i);
    }
  }
}

/// The values of a tile. The bits of magnitudes are in the order of magnitudes.
struct Tile {
  alignas(kOverrun) float value[kDrawnTile];
  std::uint32_t least;  ///< magnitude of those loaded
  std::uint32_t most;

  [[nodiscard]] bool has_zero() const { return least == 0; }

  /// The elements from `begin` on as they are; what is special among them is counted.
  template <typename Source>
  void load_raw(const Source& source, std::uint64_t begin, std::uint32_t count,
                Specials& specials) {
    foresee(source, begin);
    std::int32_t low = 0x7FFFFFFF;
    std::int32_t high = 0;
    for (std::uint32_t j = 0; j < count; ++j) {
      const float x = source(begin + j);
      const auto magnitude = static_cast<std::int32_t>(bits_of(x) & 0x7FFFFFFFU);
      low = magnitude < low ? magnitude : low;
      high = magnitude > high ? magnitude : high;
      value[j] = x;
    }
    least = static_cast<std::uint32_t>(low);
    most = static_cast<std::uint32_t>(high);
    if (most < kInfinity) return;
    for (std::uint32_t j = 0; j < count; ++j) {
      specials.nans += is_nan(value[j]) ? 1U : 0U;
      specials.infinities += is_infinite(value[j]) ? 1U : 0U;
    }
  }

  /// The same, but what is special counts as 0.
  template <typename Source>
  void load(const Source& source, std::uint64_t begin, std::uint32_t count, Specials& specials) {
    load_raw(source, begin, count, specials);
    if (most < kInfinity) return;
    least = 0;
    most = 0;
    for (std::uint32_t j = 0; j < count; ++j) {
      value[j] = finite_or_zero(value[j]);
      const std::uint32_t magnitude = bits_of(value[j]) & 0x7FFFFFFFU;
      most = magnitude > most ? magnitude : most;
    }
  }

 private:
  static constexpr std::uint32_t kInfinity = 0x7F800000;
};

/// Lanes of the sums of a chunk: element j's is lane j % kLanes.
inline constexpr std::uint32_t kLanes = 32;

template <typename Sum>
struct LaneSums {
  typename Sum::Number lane[Sum::kCount][kLanes] = {};

  /// Of a tile of values.
  template <typename F>
  void add(const float* __restrict values, std::uint32_t count, const F& f) {
    typename Sum::Number sums[Sum::kCount][kLanes];
    std::memcpy(sums, lane, sizeof sums);
    const float* const end = values + count;
    const float* row = values;
    for (; end - row >= kLanes; row += kLanes) {
      for (std::uint32_t l = 0; l < kLanes; ++l) {
        const Sum added = f(row[l]);
        for (std::size_t s = 0; s < Sum::kCount; ++s) sums[s][l] += added.value[s];
      }
    }
    for (std::uint32_t l = 0; row + l < end; ++l) {
      const Sum added = f(row[l]);
      for (std::size_t s = 0; s < Sum::kCount; ++s) sums[s][l] += added.value[s];
    }
    std::memcpy(lane, sums, sizeof sums);
  }

  /// Lanes are added to those half their distance off.
  [[nodiscard]] double total(std::size_t s) {
    for (std::uint32_t half = kLanes / 2; half > 0; half /= 2) {
      for (std::uint32_t l = 0; l < half; ++l) lane[s][l] += lane[s][l + half];
    }
    return static_cast<double>(lane[s][0]);
  }
};

inline bool any_zero(const float* __restrict values, std::uint32_t count) {
  std::uint32_t least = 0xFFFFFFFF;
  for (std::uint32_t j = 0; j < count; ++j) {
    const std::uint32_t magnitude = bits_of(values[j]) & 0x7FFFFFFFU;
    least = magnitude < least ? magnitude : least;
  }
  return least == 0;
}

/// Codes of a tile, a byte each.
template <unsigned kBits>
struct TileCodes {
  static constexpr std::uint32_t kOfByte = 8 / kBits;
  alignas(kOverrun) std::uint8_t code[kDrawnTile + kOverrun];

  /// Into whole bytes, the first code behind `skipped` others, whose bits are 0, as are those of
  /// the last byte. Returns how many bytes.
  std::uint32_t pack(std::uint32_t skipped, std::uint32_t count, std::uint8_t* packed) {
    std::memset(code + count, 0, kOverrun);
    std::uint64_t words[kWords + 1] = {};
    auto* const bytes = reinterpret_cast<std::uint8_t*>(words);
    if constexpr (kBits == 1) pack_bits(code, count, bytes);
    if constexpr (kBits == 2) pack_pairs(code, count, bytes);
    if (const std::uint32_t shift = skipped * kBits; shift != 0) {
      for (std::uint32_t i = kWords; i > 0; --i) {
        words[i] = words[i] << shift | words[i - 1] >> (64 - shift);
      }
      words[0] <<= shift;
    }
    std::memcpy(packed, words, sizeof words);
    return (skipped + count + kOfByte - 1) / kOfByte;
  }

 private:
  static constexpr std::uint32_t kWords = kDrawnTile * kBits / 64;
};

}  // namespace mergewise::MERGEWISE_ISA
