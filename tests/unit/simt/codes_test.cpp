// SPDX-License-Identifier: Apache-2.0
// Codes of elements on CUDA, against plain loops.
#include "kernels/primitives/cuda/cuda_primitives.cuh"
#include "tests/unit/simt/layouts.hpp"
#include "tests/unit/simt/orders.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace mergewise {
namespace {

constexpr DrawKey kKey{.seed = 77, .iteration = 3, .tensor = 0, .stream = 2};

// Bits of the number, of the draw and of the tensor's scale, so that every mistake shows.
template <unsigned kOfCode, Draws kKind>
struct MixedCode {
  static constexpr unsigned kBits = kOfCode;
  static constexpr Draws kDraws = kKind;
  struct Scale {
    float value;
  };
  static Scale scale(const std::byte* scales, std::uint32_t tensor) {
    return {load<float>(scales, tensor)};
  }
  static unsigned code(Scale scale, float x, std::uint32_t draw) {
    return (bits_of(x * scale.value) >> 20 ^ draw) & ((1U << kBits) - 1);
  }
  static float decoded(Scale scale, unsigned code) {
    return scale.value * (static_cast<float>(code) - 1);
  }
  static float kept(float x, float said) { return x - said; }
  static float mean(float sum, std::uint32_t ranks, std::uint32_t draw) {
    return sum / static_cast<float>(ranks) + static_cast<float>(draw);
  }
};

struct Numbers {
  const float* gradient;
  const float* memory;
  float operator()(std::uint64_t i) const {
    return memory == nullptr ? gradient[i] : gradient[i] + memory[i];
  }
};

std::uint32_t drawn_for(const GroupView& group, std::uint64_t i) {
  const std::uint32_t tensor = tensor_of(group, i);
  const std::uint64_t before = group.piece == 0 ? begin_of(group, tensor) : 0;
  return draw(draw_key_of(group, kKey, tensor), i - before);
}

template <typename Code>
bool draws(float x) {
  return Code::kDraws == Draws::kAll || (Code::kDraws == Draws::kOfZeros && x == 0);
}

template <typename Code>
void expect_codes(const GroupView& group, std::size_t misplaced) {
  const std::uint64_t n = group.elements;
  // Floats at any multiple of 4 bytes.
  std::vector<float> gradient = numbers(n + misplaced, false);
  std::vector<float> memory(gradient.rbegin(), gradient.rend());
  for (float& x : memory) x = std::isfinite(x) ? x : 0;
  std::vector<float> scales(group.tensors);
  for (std::size_t t = 0; t < scales.size(); ++t) scales[t] = 1.0F + static_cast<float>(t % 7);
  const auto* const scale_bytes = reinterpret_cast<const std::byte*>(scales.data());

  std::vector<std::byte> expected(code_bytes<Code::kBits>(n) + 1, std::byte{0});
  std::vector<float> kept = memory;
  for (std::uint64_t i = 0; i < n; ++i) {
    const float sum = gradient[misplaced + i] + memory[misplaced + i];
    const float x = std::isfinite(sum) ? sum : 0;
    const auto scale = Code::scale(scale_bytes, tensor_of(group, i));
    const unsigned code = Code::code(scale, x, draws<Code>(x) ? drawn_for(group, i) : 0);
    constexpr std::uint64_t kOfByte = 8 / Code::kBits;
    expected[i / kOfByte] |= static_cast<std::byte>(code << (Code::kBits * (i % kOfByte)));
    kept[misplaced + i] = Code::kept(x, Code::decoded(scale, code));
  }
  expected.back() = std::byte{0xEE};

  std::vector<std::byte> codes(expected.size(), std::byte{0xEE});
  const CudaPrimitives on(nullptr, nullptr);
  on.template encode<Code>(group, kKey,
                           Numbers{gradient.data() + misplaced, memory.data() + misplaced},
                           scale_bytes, codes.data(), memory.data() + misplaced, nullptr);
  ASSERT_EQ(codes, expected);
  ASSERT_EQ(bits(memory), bits(kept));
}

template <typename Code>
void expect_mean(const GroupView& group, std::size_t misplaced) {
  constexpr std::uint32_t kRanks = 3;
  const std::uint64_t n = group.elements;
  const std::uint64_t scales_at = code_bytes<Code::kBits>(n);
  const std::uint64_t stride = scales_at + sizeof(float) * group.tensors;
  std::vector<std::byte> messages(kRanks * stride);
  for (std::size_t i = 0; i < messages.size(); ++i) messages[i] = static_cast<std::byte>(i * 37);
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    for (std::uint32_t t = 0; t < group.tensors; ++t) {
      store(messages.data() + rank * stride + scales_at, t, 1.0F + static_cast<float>(t % 5));
    }
  }
  std::vector<float> expected(n + misplaced + 1, -7.0F);
  for (std::uint64_t i = 0; i < n; ++i) {
    float sum = 0;
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      const std::byte* const message = messages.data() + rank * stride;
      sum += Code::decoded(Code::scale(message + scales_at, tensor_of(group, i)),
                           code_at<Code::kBits>(message, i));
    }
    const bool drawn = Code::kDraws == Draws::kOfZeros && sum == 0;
    expected[misplaced + i] = Code::mean(sum, kRanks, drawn ? drawn_for(group, i) : 0);
  }
  std::vector<float> mean(expected.size(), -7.0F);
  const CudaPrimitives on(nullptr, nullptr);
  on.template mean_of_codes<Code>(group, kKey, messages.data(), stride, scales_at, kRanks,
                                  mean.data() + misplaced);
  ASSERT_EQ(bits(mean), bits(expected));
}

class CudaCodes : public InEveryOrder {};
INSTANTIATE_TEST_SUITE_P(Orders, CudaCodes, every_order(), order_name);

template <typename Code>
void expect_all() {
  const std::vector<std::vector<std::size_t>> groups{kAwkward, {1}, {7, 1}, {8}, {9}, {16, 24, 8}};
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const GroupLayout layout(5, groups[g]);
    std::vector<GroupView> views = views_of(layout);
    views.push_back(layout.pieces(8));
    for (const GroupView& group : views) {
      SCOPED_TRACE(testing::Message() << "group " << g << " in pieces of " << group.piece);
      expect_codes<Code>(group, g % 4);
      expect_mean<Code>(group, (g + 1) % 4);
    }
  }
}

TEST_P(CudaCodes, OfOneBit) {
  expect_all<MixedCode<1, Draws::kNone>>();
  expect_all<MixedCode<1, Draws::kOfZeros>>();
}
TEST_P(CudaCodes, OfTwoBits) { expect_all<MixedCode<2, Draws::kAll>>(); }
TEST_P(CudaCodes, OfEightBits) { expect_all<MixedCode<8, Draws::kAll>>(); }

TEST(CudaDraws, OfEightElementsAreThoseOfEach) {
  for (std::uint64_t offset : {std::uint64_t{0}, (std::uint64_t{1} << 35) - 16}) {
    for (const std::uint64_t end = offset + 17; offset < end; ++offset) {
      const cuda::EightDraws eight(kKey, offset);
      for (unsigned j = 0; j < 8; ++j) EXPECT_EQ(eight(j), draw(kKey, offset + j)) << offset;
    }
  }
}

// Beyond 2^32 elements, without their memory.
TEST(CudaCodesOfHugeGroups, KnowTheirElements) {
  const GroupLayout small(0, {1});
  GroupView group = small.pieces(64);
  group.elements = (std::uint64_t{1} << 33) + 5;
  const cuda::Eight last(group, group.elements / 8);
  EXPECT_EQ(last.first, std::uint64_t{1} << 33);
  EXPECT_EQ(last.tensor, 1U << 27);
  EXPECT_EQ(last.count, 5U);
  EXPECT_EQ(last.own, 5U);
  const cuda::Eight middle(group, (std::uint64_t{1} << 29) + 7);
  EXPECT_EQ(middle.first, (std::uint64_t{1} << 32) + 56);
  EXPECT_EQ(middle.own, 8U);
}

}  // namespace
}  // namespace mergewise
