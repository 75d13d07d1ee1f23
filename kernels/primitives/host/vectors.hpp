// SPDX-License-Identifier: Apache-2.0
// What compilers do not make of plain loops: instructions of single sets, each beside plain C++
// that does the same. Buffers of bytes end kOverrun bytes beyond what is asked for.
#pragma once

#include "kernels/primitives/bytes.hpp"
#include "kernels/primitives/codes.hpp"
#include "kernels/primitives/half.hpp"
#include "kernels/primitives/host/instruction_set.hpp"
#include "kernels/primitives/philox.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace mergewise::MERGEWISE_ISA {

/// How far beyond their end the functions below may read and write.
inline constexpr std::uint32_t kOverrun = 64;

#if defined(__AVX512BW__)
inline constexpr std::size_t kVectorBytes = 64;
#elif defined(__AVX2__)
inline constexpr std::size_t kVectorBytes = 32;
#else
inline constexpr std::size_t kVectorBytes = 16;
#endif

/// One bit of each byte of `codes` (0 or 1), in order.
inline void pack_bits(const std::uint8_t* codes, std::uint32_t count, std::uint8_t* bits) {
#if defined(__AVX512BW__)
  for (std::uint32_t i = 0; i < count; i += 64) {
    const __m512i bytes = _mm512_loadu_si512(codes + i);
    const std::uint64_t packed = _mm512_test_epi8_mask(bytes, bytes);
    std::memcpy(bits + i / 8, &packed, sizeof packed);
  }
#elif defined(__AVX2__)
  for (std::uint32_t i = 0; i < count; i += 32) {
    __m256i bytes;
    std::memcpy(&bytes, codes + i, sizeof bytes);
    const int packed = _mm256_movemask_epi8(_mm256_slli_epi16(bytes, 7));
    std::memcpy(bits + i / 8, &packed, sizeof packed);
  }
#else
  for (std::uint32_t i = 0; i < count; i += 8) {
    unsigned byte = 0;
    for (unsigned bit = 0; bit < 8; ++bit) byte |= static_cast<unsigned>(codes[i + bit]) << bit;
    bits[i / 8] = static_cast<std::uint8_t>(byte);
  }
#endif
}

/// Two bits of each byte of `codes` (0 to 3), in order.
inline void pack_pairs(const std::uint8_t* codes, std::uint32_t count, std::uint8_t* pairs) {
  for (std::size_t i = 0; i < (count + 3) / 4; ++i) {
    std::uint32_t four;
    std::memcpy(&four, codes + 4 * i, sizeof four);
    pairs[i] = static_cast<std::uint8_t>(four | four >> 6 | four >> 12 | four >> 18);
  }
}

/// So many floats that one instruction works on.
using Floats [[gnu::vector_size(kVectorBytes)]] = float;
inline constexpr std::uint32_t kFloats = kVectorBytes / sizeof(float);

/// What codes of kBits (1 or 2) stand for, to be picked by kFloats of them at once.
template <unsigned kBits>
class Meanings {
 public:
  static constexpr unsigned kCodes = 1U << kBits;

  explicit Meanings(const float (&meanings)[kCodes]) {
    constexpr unsigned kLast = kCodes - 1;
#if defined(__AVX512F__) || defined(__AVX2__)
    // Of an index into the table only the lowest bits are a code: it repeats itself.
    const __m128 some = _mm_setr_ps(meanings[0], meanings[1], meanings[2 & kLast], meanings[kLast]);
#endif
#if defined(__AVX512F__)
    table_ = _mm512_broadcast_f32x4(some);
    first_ = _mm512_set1_ps(meanings[0]);
    second_ = _mm512_set1_ps(meanings[1]);
#elif defined(__AVX2__)
    table_ = _mm256_set_m128(some, some);
#else
    for (unsigned code = 0; code <= kLast; ++code) table_[code] = meanings[code];
#endif
  }

  /// Of the codes in the lowest bits, the first one lowest.
  [[nodiscard]] Floats of(std::uint64_t codes) const {
#if defined(__AVX512F__) || defined(__AVX2__)
    constexpr int kEach = kBits;
    const auto lower = static_cast<std::int32_t>(codes);
#endif
#if defined(__AVX512F__)
    if constexpr (kBits == 1) {
      return _mm512_mask_blend_ps(static_cast<__mmask16>(codes), first_, second_);
    }
    const __m512i shifts = _mm512_setr_epi32(
        0, kEach, 2 * kEach, 3 * kEach, 4 * kEach, 5 * kEach, 6 * kEach, 7 * kEach, 8 * kEach,
        9 * kEach, 10 * kEach, 11 * kEach, 12 * kEach, 13 * kEach, 14 * kEach, 15 * kEach);
    const __m512i places = _mm512_srlv_epi32(_mm512_set1_epi32(lower), shifts);
    return _mm512_permutexvar_ps(places, table_);
#elif defined(__AVX2__)
    const __m256i shifts = _mm256_setr_epi32(0, kEach, 2 * kEach, 3 * kEach, 4 * kEach, 5 * kEach,
                                             6 * kEach, 7 * kEach);
    const __m256i places = _mm256_srlv_epi32(_mm256_set1_epi32(lower), shifts);
    return _mm256_permutevar8x32_ps(table_, places);
#else
    Floats said;
    for (unsigned i = 0; i < kFloats; ++i) said[i] = table_[codes >> (i * kBits) & (kCodes - 1)];
    return said;
#endif
  }

 private:
#if defined(__AVX512F__)
  __m512 table_;
  __m512 first_;
  __m512 second_;
#elif defined(__AVX2__)
  __m256 table_;
#else
  float table_[kCodes];
#endif
};

/// The bits from bit `bit` on, of which the first `wanted` are, at most 64. `more`: 64 are, and the
/// byte behind them is there to be read too.
inline std::uint64_t bits_at(const std::byte* bytes, std::uint64_t bit, std::uint64_t wanted,
                             bool more) {
  const std::byte* const first = bytes + bit / 8;
  const std::uint64_t skipped = bit % 8;
  if (more) {
    return load<std::uint64_t>(first) >> skipped | load<std::uint64_t>(first + 1) << (8 - skipped);
  }
  std::uint64_t bits = 0;
  for (std::uint64_t i = 0; 8 * i < skipped + wanted; ++i) {
    const auto byte = static_cast<std::uint64_t>(first[i]);
    bits |= 8 * i >= skipped ? byte << (8 * i - skipped) : byte >> skipped;
  }
  return bits;
}

/// A block of draws in each of these.
using Wide [[gnu::vector_size(kVectorBytes)]] = std::uint64_t;
inline constexpr std::uint32_t kWide = kVectorBytes / sizeof(std::uint64_t);

/// The products of the lower halves of all elements and a factor below 2^32.
inline Wide times(Wide a, std::uint64_t factor) {
#if defined(__AVX512BW__)
  const auto product = _mm512_mul_epu32(reinterpret_cast<__m512i>(a),
                                        _mm512_set1_epi64(static_cast<long long>(factor)));
  return reinterpret_cast<Wide>(product);
#elif defined(__AVX2__)
  const auto product = _mm256_mul_epu32(reinterpret_cast<__m256i>(a),
                                        _mm256_set1_epi64x(static_cast<long long>(factor)));
  return reinterpret_cast<Wide>(product);
#else
  return (a & 0xFFFFFFFFU) * factor;
#endif
}

/// From each pair of lanes the first ones of both, and then all the second ones.
struct Interleaved {
  Wide first;
  Wide second;
};
inline Interleaved interleaved(Wide a, Wide b) {
#if defined(__AVX512BW__)
  const auto one = reinterpret_cast<__m512i>(a);
  const auto other = reinterpret_cast<__m512i>(b);
  return {reinterpret_cast<Wide>(_mm512_unpacklo_epi64(one, other)),
          reinterpret_cast<Wide>(_mm512_unpackhi_epi64(one, other))};
#elif defined(__AVX2__)
  const auto one = reinterpret_cast<__m256i>(a);
  const auto other = reinterpret_cast<__m256i>(b);
  return {reinterpret_cast<Wide>(_mm256_unpacklo_epi64(one, other)),
          reinterpret_cast<Wide>(_mm256_unpackhi_epi64(one, other))};
#else
  return {Wide{a[0], b[0]}, Wide{a[1], b[1]}};
#endif
}

/// draw_block() of `blocks` blocks from `first` on, and up to kWide - 1 more: 8 draws of each.
inline void draw_blocks(const DrawKey& key, std::uint64_t first, std::uint32_t blocks,
                        std::uint16_t* draws) {
  // Words stand in the lower halves; the upper ones are never looked at. Lane 2 i makes block i and
  // lane 2 i + 1 block kWide / 2 + i: then what is interleaved below is in order.
  Wide order;
  for (std::uint32_t i = 0; i < kWide / 2; ++i) {
    order[2 * i] = i;
    order[2 * i + 1] = kWide / 2 + i;
  }
  for (std::uint32_t begin = 0; begin < blocks; begin += kWide) {
    const Wide block = order + (first + begin);
    Wide word0 = block;
    Wide word1 = (block >> 32 & 0xFFFFU) | static_cast<std::uint64_t>(key.stream) << 16;
    Wide word2 = Wide{} + key.tensor;
    Wide word3 = Wide{} + key.iteration;
    std::uint64_t key0 = key.seed & 0xFFFFFFFFU;
    std::uint64_t key1 = key.seed >> 32;
    for (int round = 0; round < 10; ++round) {
      const Wide product0 = times(word0, 0xD2511F53);
      const Wide product1 = times(word2, 0xCD9E8D57);
      word0 = product1 >> 32 ^ word1 ^ key0;
      word1 = product1;
      word2 = product0 >> 32 ^ word3 ^ key1;
      word3 = product0;
      key0 += 0x9E3779B9;
      key1 += 0xBB67AE85;
    }
    const Wide lower = (word0 & 0xFFFFFFFFU) | word1 << 32;
    const Wide upper = (word2 & 0xFFFFFFFFU) | word3 << 32;
    const Interleaved inorder = interleaved(lower, upper);
    std::memcpy(draws + begin * kDrawsPerBlock, &inorder, sizeof inorder);
  }
}

/// Format::from_bits() of share(value) of each; share() takes single floats and vectors of them.
template <typename Format, typename Share>
inline void narrow(const float* __restrict values, std::uint32_t count, const Share& share,
                   std::byte* __restrict halves) {
  std::size_t i = 0;
#if defined(__F16C__)
  if constexpr (std::is_same_v<Format, Fp16>) {
    for (; i + kFloats <= count; i += kFloats) {
#if defined(__AVX512F__)
      const __m256i some =
          _mm512_cvtps_ph(share(_mm512_loadu_ps(values + i)), _MM_FROUND_TO_NEAREST_INT);
#else
      const __m128i some =
          _mm256_cvtps_ph(share(_mm256_loadu_ps(values + i)), _MM_FROUND_TO_NEAREST_INT);
#endif
      std::memcpy(halves + 2 * i, &some, sizeof some);
    }
  }
#endif
  for (; i < count; ++i) {
    store(halves, i, Format::from_bits(bits_of(share(values[i]))));
  }
}

/// Format::to_bits() of each.
template <typename Format>
inline void widen(const std::byte* __restrict halves, std::uint32_t count,
                  float* __restrict values) {
  std::size_t i = 0;
#if defined(__AVX2__) && defined(__F16C__)
  if constexpr (std::is_same_v<Format, Fp16>) {
    constexpr std::uint32_t kAtOnce = kVectorBytes / sizeof(float);
    for (; i + kAtOnce <= count; i += kAtOnce) {
      // The instruction makes every NaN a quiet one.
      std::uint32_t nans;
#if defined(__AVX512F__)
      __m256i some;
      std::memcpy(&some, halves + 2 * i, sizeof some);
      const __m512 made = _mm512_cvtph_ps(some);
      nans = _mm512_cmp_ps_mask(made, made, _CMP_UNORD_Q);
      _mm512_storeu_ps(values + i, made);
#else
      __m128i some;
      std::memcpy(&some, halves + 2 * i, sizeof some);
      const __m256 made = _mm256_cvtph_ps(some);
      nans =
          static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_cmp_ps(made, made, _CMP_UNORD_Q)));
      _mm256_storeu_ps(values + i, made);
#endif
      for (std::size_t j = i; nans != 0; ++j, nans >>= 1) {
        if ((nans & 1U) != 0) values[j] = float_of(Format::to_bits(load<std::uint16_t>(halves, j)));
      }
    }
  }
#endif
  for (; i < count; ++i) {
    values[i] = float_of(Format::to_bits(load<std::uint16_t>(halves, i)));
  }
}

}  // namespace mergewise::MERGEWISE_ISA
