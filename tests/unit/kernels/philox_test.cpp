// SPDX-License-Identifier: Apache-2.0
#include "kernels/primitives/philox.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace mergewise {
namespace {

using ::testing::ElementsAre;

std::vector<std::uint32_t> words(const PhiloxWords& out) {
  return {out.word[0], out.word[1], out.word[2], out.word[3]};
}

// The known answers that Random123 publishes for philox4x32 with ten rounds.
TEST(Philox, GivesThePublishedAnswers) {
  EXPECT_THAT(words(philox({{0, 0, 0, 0}}, 0)),
              ElementsAre(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
  EXPECT_THAT(words(philox({{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}}, 0xffffffffffffffff)),
              ElementsAre(0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd));
  EXPECT_THAT(words(philox({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0x299f31d0a4093822)),
              ElementsAre(0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1));
}

TEST(Philox, AnElementsDrawIsItsPlaceInItsBlock) {
  const DrawKey key{.seed = 7, .iteration = 3, .tensor = 5, .stream = 2};
  for (const std::uint64_t element : {std::uint64_t{0}, std::uint64_t{9},
                                      (std::uint64_t{1} << 31) + 3, (std::uint64_t{1} << 35) + 6}) {
    const PhiloxWords block = draw_block(key, element / 8);
    const std::uint32_t word = block.word[element % 8 / 2];
    EXPECT_EQ(draw(key, element), element % 2 == 0 ? word & 0xFFFF : word >> 16) << element;
  }
}

TEST(Philox, EveryPartOfTheKeyAndTheBlockMatters) {
  const DrawKey key{.seed = 7, .iteration = 3, .tensor = 5, .stream = 2};
  std::vector<DrawKey> keys(6, key);
  keys[1].seed = 8;
  keys[2].seed += std::uint64_t{1} << 32;
  keys[3].iteration = 4;
  keys[4].tensor = 6;
  keys[5].stream = 1;
  std::set<std::vector<std::uint32_t>> seen;
  for (const DrawKey& one : keys) seen.insert(words(draw_block(one, 1)));
  seen.insert(words(draw_block(key, 0)));
  seen.insert(words(draw_block(key, (std::uint64_t{1} << 32) + 1)));
  EXPECT_EQ(seen.size(), 8U);
}

TEST(Philox, UnitsAreInsideTheOpenIntervalAndSymmetric) {
  EXPECT_GT(unit_of(0), 0.0F);
  EXPECT_LT(unit_of(65535), 1.0F);
  for (const std::uint32_t draw : {0U, 1U, 32767U}) {
    EXPECT_EQ(unit_of(draw) + unit_of(65535 - draw), 1.0F) << draw;
  }
}

// 2^20 draws: the mean within five standard errors, each bit set about half the time.
TEST(Philox, DrawsAreUniform) {
  constexpr std::uint64_t kDraws = 1 << 20;
  double sum = 0;
  std::vector<double> set(16, 0.0);
  for (std::uint64_t element = 0; element < kDraws; ++element) {
    const std::uint32_t bits = draw({.seed = 1}, element);
    sum += unit_of(bits);
    for (std::size_t bit = 0; bit < set.size(); ++bit) set[bit] += (bits >> bit) & 1;
  }
  const double error = 5 / std::sqrt(static_cast<double>(kDraws));
  EXPECT_NEAR(sum / kDraws, 0.5, error * std::sqrt(1.0 / 12));
  for (const double count : set) EXPECT_NEAR(count / kDraws, 0.5, error * 0.5);
}

}  // namespace
}  // namespace mergewise
