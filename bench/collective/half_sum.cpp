// SPDX-License-Identifier: Apache-2.0
#include "bench/collective/half_sum.hpp"

#include "bench/core/error.hpp"
#include "kernels/primitives/half.hpp"

#include <bit>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace mergewise {
namespace {

std::uint16_t sum_of_half(std::uint16_t a, std::uint16_t b) {
  const float sum =
      std::bit_cast<float>(bits_from_half(a)) + std::bit_cast<float>(bits_from_half(b));
  return half_from_bits(std::bit_cast<std::uint32_t>(sum));
}

std::uint16_t sum_of_bfloat(std::uint16_t a, std::uint16_t b) {
  const float sum =
      std::bit_cast<float>(bits_from_bfloat(a)) + std::bit_cast<float>(bits_from_bfloat(b));
  return bfloat_from_bits(std::bit_cast<std::uint32_t>(sum));
}

#if defined(__x86_64__)

// What is left behind the last eight is for the portable loop: both return where it begins.
constexpr std::size_t kAtOnce = 8;

__m128i load(const std::uint16_t* from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}

__attribute__((target("avx2,f16c"))) std::size_t add_half_avx2(std::uint16_t* sum,
                                                               const std::uint16_t* a,
                                                               const std::uint16_t* b,
                                                               std::size_t count) {
  std::size_t i = 0;
  for (; i + kAtOnce <= count; i += kAtOnce) {
    const __m256 value = _mm256_add_ps(_mm256_cvtph_ps(load(a + i)), _mm256_cvtph_ps(load(b + i)));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(sum + i),
                     _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT));
  }
  return i;
}

__attribute__((target("avx2"))) std::size_t add_bfloat_avx2(std::uint16_t* sum,
                                                            const std::uint16_t* a,
                                                            const std::uint16_t* b,
                                                            std::size_t count) {
  const __m256i below_half = _mm256_set1_epi32(0x7FFF);
  const __m256i one = _mm256_set1_epi32(1);
  const __m256i quiet = _mm256_set1_epi32(0x40);
  std::size_t i = 0;
  for (; i + kAtOnce <= count; i += kAtOnce) {
    const __m256i left = _mm256_slli_epi32(_mm256_cvtepu16_epi32(load(a + i)), 16);
    const __m256i right = _mm256_slli_epi32(_mm256_cvtepu16_epi32(load(b + i)), 16);
    const __m256 value = _mm256_add_ps(_mm256_castsi256_ps(left), _mm256_castsi256_ps(right));
    const __m256i bits = _mm256_castps_si256(value);
    const __m256i upper = _mm256_srli_epi32(bits, 16);
    const __m256i odd = _mm256_and_si256(upper, one);
    const __m256i rounded =
        _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(bits, below_half), odd), 16);
    const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(value, value, _CMP_UNORD_Q));
    const __m256i result = _mm256_blendv_epi8(rounded, _mm256_or_si256(upper, quiet), nan);
    _mm_storeu_si128(
        reinterpret_cast<__m128i*>(sum + i),
        _mm_packus_epi32(_mm256_castsi256_si128(result), _mm256_extracti128_si256(result, 1)));
  }
  return i;
}

// clang 14 knows no name for F16C to ask by.
bool has_avx2_and_f16c() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __builtin_cpu_supports("avx2") != 0 && __get_cpuid(1, &a, &b, &c, &d) != 0 &&
         (c & bit_F16C) != 0;
}

std::size_t add_by_vectors(DType dtype, std::uint16_t* sum, const std::uint16_t* a,
                           const std::uint16_t* b, std::size_t count) {
  static const bool kHasThem = has_avx2_and_f16c();
  if (!kHasThem) return 0;
  return dtype == DType::kFloat16 ? add_half_avx2(sum, a, b, count)
                                  : add_bfloat_avx2(sum, a, b, count);
}

#else

std::size_t add_by_vectors(DType, std::uint16_t*, const std::uint16_t*, const std::uint16_t*,
                           std::size_t) {
  return 0;
}

#endif

}  // namespace

namespace detail {

void add_halves_portably(DType dtype, std::uint16_t* sum, const std::uint16_t* a,
                         const std::uint16_t* b, std::size_t count) {
  if (dtype == DType::kFloat16) {
    for (std::size_t i = 0; i < count; ++i) sum[i] = sum_of_half(a[i], b[i]);
  } else {
    for (std::size_t i = 0; i < count; ++i) sum[i] = sum_of_bfloat(a[i], b[i]);
  }
}

}  // namespace detail

void add_halves(DType dtype, std::uint16_t* sum, const std::uint16_t* a, const std::uint16_t* b,
                std::size_t count) {
  MERGEWISE_CHECK(dtype != DType::kFloat32, "a float is no half");
  const std::size_t done = add_by_vectors(dtype, sum, a, b, count);
  detail::add_halves_portably(dtype, sum + done, a + done, b + done, count - done);
}

}  // namespace mergewise
