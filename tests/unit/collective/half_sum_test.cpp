// SPDX-License-Identifier: Apache-2.0
#include "bench/collective/half_sum.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace mergewise {
namespace {

class HalfSum : public testing::TestWithParam<DType> {};

bool is_nan(DType dtype, std::uint16_t half) {
  const int infinity = dtype == DType::kFloat16 ? 0x7C00 : 0x7F80;
  return (half & 0x7FFF) > infinity;
}

TEST_P(HalfSum, VectorsAndTheRestAgreeOnAllNumbers) {
  // Each half once, beside others of every size; a length that is no multiple of what is done at
  // once, and one buffer in place.
  constexpr std::size_t kCount = (1 << 16) + 5;
  std::vector<std::uint16_t> a(kCount);
  std::vector<std::uint16_t> b(kCount);
  std::vector<std::uint16_t> expected(kCount);
  for (const unsigned stride : {1U, 77U, 40503U, 0x8001U}) {
    for (std::size_t i = 0; i < kCount; ++i) {
      a[i] = static_cast<std::uint16_t>(i);
      b[i] = static_cast<std::uint16_t>(i * stride + stride);
    }
    detail::add_halves_portably(GetParam(), expected.data(), a.data(), b.data(), kCount);
    add_halves(GetParam(), a.data(), a.data(), b.data(), kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
      if (is_nan(GetParam(), expected[i])) {
        ASSERT_TRUE(is_nan(GetParam(), a[i])) << i << " with stride " << stride;
      } else {
        ASSERT_EQ(a[i], expected[i]) << i << " with stride " << stride;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, HalfSum, testing::Values(DType::kFloat16, DType::kBfloat16));

TEST(HalfSum, RoundsToNearestEven) {
  const auto sum = [](DType dtype, unsigned a, unsigned b) {
    const auto left = static_cast<std::uint16_t>(a);
    const auto right = static_cast<std::uint16_t>(b);
    std::uint16_t result = 0;
    add_halves(dtype, &result, &left, &right, 1);
    return unsigned{result};
  };
  // 2048 + 1 lies between 2048 and 2050, 2050 + 1 between 2050 and 2052: the even mantissa wins.
  EXPECT_EQ(sum(DType::kFloat16, 0x6800, 0x3C00), 0x6800U);
  EXPECT_EQ(sum(DType::kFloat16, 0x6801, 0x3C00), 0x6802U);
  EXPECT_EQ(sum(DType::kFloat16, 0x7BFF, 0x7BFF), 0x7C00U) << "65504 twice is infinite";
  // 256 + 1 and 258 + 1.
  EXPECT_EQ(sum(DType::kBfloat16, 0x4380, 0x3F80), 0x4380U);
  EXPECT_EQ(sum(DType::kBfloat16, 0x4381, 0x3F80), 0x4382U);
}

}  // namespace
}  // namespace mergewise
