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

/// A multiple of what one call of philox() draws, of the lanes of sums and of kOverrun; a divisor
/// of kChunk.
inline constexpr std::uint32_t kTile = 1024;

/// Elements that are no finite numbers.
struct Specials {
  std::uint64_t nans = 0;
  std::uint64_t infinities = 0;
};

/// What an array of floats may look like to a loop that writes others.
using Values = float[kTile];

/// The elements from `begin` on as they are, and what is special among them.
template <typename Source>
inline void load_raw(const Source& source, std::uint64_t begin, std::uint32_t count,
                     float* __restrict values, Specials& specials) {
  std::uint32_t any = 0;
  for (std::uint32_t j = 0; j < count; ++j) {
    const float x = source(begin + j);
    any |= (bits_of(x) & 0x7F800000U) == 0x7F800000U ? 1U : 0U;
    values[j] = x;
  }
  if (any == 0) return;
  for (std::uint32_t j = 0; j < count; ++j) {
    specials.nans += is_nan(values[j]) ? 1U : 0U;
    specials.infinities += is_infinite(values[j]) ? 1U : 0U;
  }
}

/// The same, but what is special counts as 0.
template <typename Source>
inline void load_clean(const Source& source, std::uint64_t begin, std::uint32_t count,
                       float* __restrict values, Specials& specials) {
  const Specials before = specials;
  load_raw(source, begin, count, values, specials);
  if (before.nans == specials.nans && before.infinities == specials.infinities) return;
  for (std::uint32_t j = 0; j < count; ++j) values[j] = finite_or_zero(values[j]);
}

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
    std::uint32_t j = 0;
    for (; j + kLanes <= count; j += kLanes) {
      for (std::uint32_t l = 0; l < kLanes; ++l) {
        const Sum added = f(values[j + l]);
        for (std::size_t s = 0; s < Sum::kCount; ++s) sums[s][l] += added.value[s];
      }
    }
    for (std::uint32_t l = 0; j < count; ++j, ++l) {
      const Sum added = f(values[j]);
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
  std::uint32_t any = 0;
  for (std::uint32_t j = 0; j < count; ++j) any |= values[j] == 0 ? 1U : 0U;
  return any != 0;
}

/// Codes of a tile, a byte each, at the places where they stand in their first packed byte.
template <unsigned kBits>
struct TileCodes {
  static constexpr std::uint32_t kOfByte = 8 / kBits;
  std::uint8_t code[kTile + kOfByte + kOverrun];

  /// Into whole bytes; the bits of other elements are 0. Returns how many.
  std::uint32_t pack(std::uint32_t skipped, std::uint32_t count, std::uint8_t* packed) {
    const std::uint32_t end = skipped + count;
    std::memset(code, 0, skipped);
    std::memset(code + end, 0, kOverrun);
    if constexpr (kBits == 1) pack_bits(code, end, packed);
    if constexpr (kBits == 2) pack_pairs(code, end, packed);
    if constexpr (kBits == 8) std::memcpy(packed, code, end);
    return (end + kOfByte - 1) / kOfByte;
  }

  /// From the bytes that hold them.
  void unpack(const std::byte* bytes, std::uint32_t skipped, std::uint32_t count) {
    const std::uint32_t end = skipped + count;
    std::uint8_t packed[kTile / kOfByte + 1 + kOverrun];
    std::memcpy(packed, bytes, (end + kOfByte - 1) / kOfByte);
    if constexpr (kBits == 1) unpack_bits(packed, end, code);
    if constexpr (kBits == 2) unpack_pairs(packed, end, code);
    if constexpr (kBits == 8) std::memcpy(code, packed, end);
  }
};

}  // namespace mergewise::MERGEWISE_ISA
