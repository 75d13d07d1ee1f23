// SPDX-License-Identifier: Apache-2.0
#include "kernels/primitives/half.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace mergewise {
namespace {

float from_half(std::uint16_t half) { return std::bit_cast<float>(bits_from_half(half)); }
std::uint16_t to_half(float value) { return half_from_bits(std::bit_cast<std::uint32_t>(value)); }
float from_bfloat(std::uint16_t bfloat) { return std::bit_cast<float>(bits_from_bfloat(bfloat)); }
std::uint16_t to_bfloat(float value) {
  return bfloat_from_bits(std::bit_cast<std::uint32_t>(value));
}

// By its definition: 10 bits of mantissa, a bias of 15.
double value_of_half(unsigned half) {
  const int exponent = static_cast<int>(half >> 10);
  const double mantissa = half & 0x03FF;
  return exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
}

// The nearest of the ascending values, of two at one distance the even one.
unsigned nearest(const std::vector<double>& values, double value) {
  const auto above = std::lower_bound(values.begin(), values.end(), value);
  if (above == values.begin()) return 0;
  if (above == values.end()) return static_cast<unsigned>(values.size() - 1);
  const auto place = static_cast<unsigned>(above - values.begin());
  const double up = *above - value;
  const double down = value - *(above - 1);
  if (up == down) return place % 2 == 0 ? place : place - 1;
  return up < down ? place : place - 1;
}

TEST(Half, EveryNumberHasItsValue) {
  for (unsigned half = 0; half < 0x7C00; ++half) {
    ASSERT_EQ(from_half(static_cast<std::uint16_t>(half)), value_of_half(half)) << half;
    ASSERT_EQ(from_half(static_cast<std::uint16_t>(half | 0x8000)), -value_of_half(half)) << half;
  }
  EXPECT_EQ(from_half(0x7C00), std::numeric_limits<float>::infinity());
  EXPECT_EQ(from_half(0xFC00), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(from_half(0x7E00)));
}

TEST(Half, EveryNumberComesBack) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const unsigned expected = (bits & 0x7FFF) > 0x7C00 ? bits | 0x0200 : bits;  // NaNs are quiet
    ASSERT_EQ(to_half(from_half(half)), expected) << bits;
  }
}

TEST(Half, FloatsBecomeTheNearestTiesEven) {
  std::vector<double> values;
  for (unsigned half = 0; half <= 0x7C00; ++half)
    values.push_back(value_of_half(half));  // 2^16 too
  // All exponents; mantissas on, beside and between the borders.
  for (std::uint32_t exponent = 0; exponent < 255; ++exponent) {
    for (std::uint32_t mantissa = 0; mantissa < 0x00800000; mantissa += 0x07FF) {
      const std::uint32_t bits = exponent << 23 | mantissa;
      ASSERT_EQ(half_from_bits(bits), nearest(values, std::bit_cast<float>(bits))) << bits;
    }
    for (const std::uint32_t mantissa :
         {0x1000U, 0x3000U, 0x0FFFU, 0x1001U, 0x7FEFFFU, 0x7FF000U}) {
      const std::uint32_t bits = exponent << 23 | mantissa;
      ASSERT_EQ(half_from_bits(bits), nearest(values, std::bit_cast<float>(bits))) << bits;
    }
  }
}

TEST(Half, TheBordersOfTheRange) {
  EXPECT_EQ(to_half(65504), 0x7BFF);
  EXPECT_EQ(to_half(std::nextafter(65520.0F, 0.0F)), 0x7BFF);
  EXPECT_EQ(to_half(65520), 0x7C00) << "Inf";
  EXPECT_EQ(to_half(-65520), 0xFC00);
  EXPECT_EQ(to_half(std::ldexp(1.0F, -24)), 1);
  EXPECT_EQ(to_half(std::ldexp(1.0F, -25)), 0) << "a tie goes to the even zero";
  EXPECT_EQ(to_half(std::nextafter(std::ldexp(1.0F, -25), 1.0F)), 1);
  EXPECT_EQ(to_half(-0.0F), 0x8000);
  EXPECT_EQ(to_half(std::numeric_limits<float>::denorm_min()), 0);
  EXPECT_EQ(to_half(std::numeric_limits<float>::infinity()), 0x7C00);
}

TEST(Half, NotANumberStaysOneEvenWhereItsPayloadIsCutOff) {
  EXPECT_TRUE(std::isnan(from_half(half_from_bits(0x7F800001))));
  EXPECT_TRUE(std::isnan(from_half(half_from_bits(0xFFC00000))));
  EXPECT_TRUE(std::isnan(from_bfloat(bfloat_from_bits(0x7F800001))));
  EXPECT_TRUE(std::isnan(from_bfloat(bfloat_from_bits(0xFFFFFFFF))));
}

TEST(Bfloat, KeepsTheUpperHalfRoundedTiesEven) {
  EXPECT_EQ(to_bfloat(1.0F), 0x3F80);
  EXPECT_EQ(bfloat_from_bits(0x3F808000), 0x3F80) << "a tie, even below";
  EXPECT_EQ(bfloat_from_bits(0x3F818000), 0x3F82) << "a tie, even above";
  EXPECT_EQ(bfloat_from_bits(0x3F808001), 0x3F81);
  EXPECT_EQ(bfloat_from_bits(0xBF807FFF), 0xBF80);
  EXPECT_EQ(to_bfloat(std::numeric_limits<float>::max()), 0x7F80) << "Inf";
  EXPECT_EQ(to_bfloat(-0.0F), 0x8000);
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const auto bfloat = static_cast<std::uint16_t>(bits);
    if (std::isnan(from_bfloat(bfloat))) continue;
    ASSERT_EQ(to_bfloat(from_bfloat(bfloat)), bits);
  }
}

}  // namespace
}  // namespace mergewise
