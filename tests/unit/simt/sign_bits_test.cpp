// SPDX-License-Identifier: Apache-2.0
#include "kernels/primitives/cuda/sign_bits.cuh"

#include "tests/unit/simt/orders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace mergewise {
namespace {

constexpr std::size_t kSizes[] = {0, 1, 7, 8, 31, 32, 33, 1000, 100003};
constexpr std::uint8_t kUntouched = 0xEE;

std::vector<float> numbers(std::size_t n) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> special = {-0.0F,     0.0F,       kNan,    -kNan,
                                      kInfinity, -kInfinity, -1e-45F, 1e-45F};
  std::mt19937 random(static_cast<unsigned>(n));
  std::vector<float> values(n);
  for (float& value : values) {
    const auto draw = random();
    value =
        draw % 4 == 0 ? special[draw / 4 % special.size()] : static_cast<float>(draw) / 2e9F - 1.0F;
  }
  return values;
}

std::vector<std::uint8_t> expected_bits(const std::vector<float>& values) {
  std::vector<std::uint8_t> bits((values.size() + 7) / 8);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] < 0.0F) {
      bits[i / 8] = static_cast<std::uint8_t>(bits[i / 8] | 1U << (i % 8));
    }
  }
  return bits;
}

class SignBits : public InEveryOrder {};

TEST_P(SignBits, PackAsAPlainLoopDoes) {
  for (const std::size_t n : kSizes) {
    const std::vector<float> values = numbers(n);
    std::vector<std::uint8_t> expected = expected_bits(values);
    ASSERT_EQ(sign_bytes(n), expected.size());
    expected.push_back(kUntouched);
    std::vector<std::uint8_t> bits(expected.size(), kUntouched);
    pack_sign_bits(values.data(), n, bits.data(), nullptr);
    EXPECT_EQ(bits, expected) << "n = " << n;
  }
}

TEST_P(SignBits, UnpackToPlusAndMinusScale) {
  for (const std::size_t n : kSizes) {
    const std::vector<std::uint8_t> bits = expected_bits(numbers(n));
    std::vector<float> expected(n + 1, 7.0F);
    for (std::size_t i = 0; i < n; ++i) {
      expected[i] = (bits[i / 8] >> (i % 8) & 1) != 0 ? -0.25F : 0.25F;
    }
    std::vector<float> values(n + 1, 7.0F);
    unpack_sign_bits(bits.data(), n, 0.25F, values.data(), nullptr);
    EXPECT_EQ(values, expected) << "n = " << n;
  }
}

TEST_P(SignBits, StrideOverTheInputWithFewBlocksAndEitherIndex) {
  const std::vector<float> values = numbers(5001);
  const LaunchShape few{3, 64};
  std::vector<std::uint8_t> narrow(sign_bytes(values.size()), kUntouched);
  launch(Kernel{"pack", &pack_sign_bits_kernel<std::uint32_t>}, few, nullptr, values.data(), 5001U,
         narrow.data());
  EXPECT_EQ(narrow, expected_bits(values));
  std::vector<std::uint8_t> wide(narrow.size(), kUntouched);
  launch(Kernel{"pack", &pack_sign_bits_kernel<std::uint64_t>}, few, nullptr, values.data(), 5001U,
         wide.data());
  EXPECT_EQ(wide, narrow);

  std::vector<float> signs(values.size());
  launch(Kernel{"unpack", &unpack_sign_bits_kernel<std::uint64_t>}, few, nullptr, wide.data(),
         5001U, 2.0F, signs.data());
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(signs[i], values[i] < 0.0F ? -2.0F : 2.0F) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, SignBits, every_order(), order_name);

TEST(SignBitsIndex, IsWideOnlyWhereTheLastStrideWouldOverflow) {
  const LaunchShape largest = shape_for(std::numeric_limits<std::size_t>::max());
  const std::uint64_t stride = largest.grid.count() * largest.block.count();
  EXPECT_LE(kMaxNarrowIndex + stride, std::numeric_limits<std::uint32_t>::max());
}

}  // namespace
}  // namespace mergewise
