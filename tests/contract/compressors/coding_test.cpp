// SPDX-License-Identifier: Apache-2.0
#include "kernels/compress/random_k.hpp"
#include "tests/contract/compressors/ranks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace mergewise::test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

std::vector<int> bytes_of(const char* id, const std::vector<std::size_t>& sizes,
                          const Floats& gradient) {
  const auto compressor = make(id);
  const GroupLayout group(0, sizes);
  Floats memory = no_memory(*compressor, group);
  std::vector<int> bytes;
  for (const std::byte byte : alone(*compressor, group, gradient, memory).message) {
    bytes.push_back(static_cast<int>(byte));
  }
  return bytes;
}

// What a GPU's messages must be too: little-endian floats (1.0 ends in 0x80, 0x3F).
TEST(Messages, LieAsDocumented) {
  const Floats nine{1, -1, -1, 1, 1, 1, 1, -1, 1};
  EXPECT_THAT(bytes_of("signsgd", {9}, nine), ElementsAre(0b01111001, 1));
  EXPECT_THAT(bytes_of("ef_signsgd", {9}, nine), ElementsAre(0b01111001, 1, 0, 0, 0x80, 0x3F));
  EXPECT_THAT(bytes_of("onebit", {2}, {1, -1}),
              ElementsAre(0b01, 0, 0, 0x80, 0xBF, 0, 0, 0x80, 0x3F));
  EXPECT_THAT(bytes_of("terngrad", {5}, {1, -1, -1, 1, 1}),
              ElementsAre(0b01101001, 1, 0, 0, 0x80, 0x3F));
  EXPECT_THAT(bytes_of("qsgd", {1}, {-1}), ElementsAre(0x81, 0, 0, 0x80, 0x3F));
  EXPECT_THAT(bytes_of("fp16", {2}, {1, -2}), ElementsAre(0, 0x3C, 0, 0xC0));
  EXPECT_THAT(bytes_of("bf16", {1}, {1}), ElementsAre(0x80, 0x3F));
}

TEST(Halves, AreTheMeanOfRanksWhoseSumWouldOverflow) {
  const auto compressor = make("fp16");
  const GroupLayout group(0, {2});
  Floats none;
  std::vector<Message> messages;
  for (std::uint16_t rank = 0; rank < 4; ++rank) {
    messages.push_back(message_of(*compressor, group, {0, rank, 4}, {40000.0F, 1.5F}, none));
  }
  EXPECT_THAT(mean_of(*compressor, group, {0, 0, 4}, messages), ElementsAre(40000.0F, 1.5F));
}

TEST(Halves, SendInfinitiesAndNoNumbersAsTheyAre) {
  const float inf = std::numeric_limits<float>::infinity();
  for (const char* id : {"fp16", "bf16"}) {
    const Floats mean = decoded(id, {}, {3}, {inf, -inf, std::nanf("")});
    EXPECT_EQ(mean[0], inf);
    EXPECT_EQ(mean[1], -inf);
    EXPECT_TRUE(std::isnan(mean[2]));
  }
}

TEST(SignSgd, TakesTheMajority) {
  const auto compressor = make("signsgd");
  const GroupLayout group(0, {3});
  Floats none;
  std::vector<Message> messages;
  const Floats gradients[] = {{1, -2, 5}, {-3, -4, 6}, {0.5F, 7, -8}};
  for (std::uint16_t rank = 0; rank < 3; ++rank) {
    messages.push_back(message_of(*compressor, group, {0, rank, 3}, gradients[rank], none));
  }
  EXPECT_THAT(mean_of(*compressor, group, {0, 0, 3}, messages), ElementsAre(1, -1, 1));
}

TEST(SignSgd, CoinsForTiesAndZerosAreFair) {
  const auto compressor = make("signsgd");
  constexpr std::size_t kSize = 20000;
  const GroupLayout group(0, {kSize});
  Floats none;
  const auto ups = [](const Floats& votes) { return std::count(votes.begin(), votes.end(), 1.0F); };
  const double spread = 5 * std::sqrt(kSize * 0.25);
  const Message up = message_of(*compressor, group, {0, 0, 2}, Floats(kSize, 1), none);
  const Message down = message_of(*compressor, group, {0, 1, 2}, Floats(kSize, -1), none);
  const Floats ties = mean_of(*compressor, group, {0, 0, 2}, {up, down});
  EXPECT_NEAR(static_cast<double>(ups(ties)), kSize / 2.0, spread);
  const Floats zeros = decoded("signsgd", {}, {kSize}, Floats(kSize, 0));
  EXPECT_NEAR(static_cast<double>(ups(zeros)), kSize / 2.0, spread);
}

// A rank's coin for a zero and that for the tie which it makes are not the same one.
TEST(SignSgd, AVoteAgainstAZeroWinsThreeTimesInFour) {
  const auto compressor = make("signsgd");
  constexpr std::size_t kSize = 20000;
  const GroupLayout group(0, {kSize});
  Floats none;
  const Message zeros = message_of(*compressor, group, {0, 0, 2}, Floats(kSize, 0), none);
  const Message ups = message_of(*compressor, group, {0, 1, 2}, Floats(kSize, 1), none);
  const Floats mean = mean_of(*compressor, group, {0, 0, 2}, {zeros, ups});
  const auto up = static_cast<double>(std::count(mean.begin(), mean.end(), 1.0F));
  EXPECT_NEAR(up, 0.75 * kSize, 5 * std::sqrt(kSize * 0.75 * 0.25));
}

TEST(EfSignSgd, SendsTheMeanMagnitudeOfEachTensor) {
  EXPECT_THAT(decoded("ef_signsgd", {}, {3, 0, 2}, {1, -2, 6, -0.01F, 0.03F}),
              ElementsAre(3, -3, 3, -0.02F, 0.02F));
}

// The published trap: a mask of numbers instead of truth values mixes the two means.
TEST(OneBit, SendsTheMeansOfTheNegativeAndOfTheOtherElements) {
  EXPECT_THAT(decoded("onebit", {}, {4, 2, 1}, {-1, -3, 8, 0, 5, 7, -6}),
              ElementsAre(-2, -2, 4, 4, 6, 6, -6));
}

TEST(Signum, TakesTheSignsOfTheMomentum) {
  const auto compressor = make("signum");
  const GroupLayout group(0, {2});
  Floats momentum(2, 0.0F);
  (void)alone(*compressor, group, {10, -10}, momentum);
  EXPECT_FLOAT_EQ(momentum[0], 1);
  // One small step the other way does not turn it.
  EXPECT_THAT(alone(*compressor, group, {-1, 1}, momentum, 1).mean, ElementsAre(1, -1));
  EXPECT_FLOAT_EQ(momentum[0], 0.8F);
}

TEST(Qsgd, LevelsAreExactWhereTheyCanBe) {
  // One element of a bucket: its norm, so the largest level.
  Floats gradient(1024, 0.0F);
  gradient[100] = -3;
  gradient[600] = 0.25F;
  const Floats mean = decoded("qsgd", {}, {1024}, gradient);
  EXPECT_EQ(mean, gradient) << "the other bucket's norm is not used";
}

TEST(Qsgd, IsNeverOffByMoreThanALevel) {
  const std::vector<std::size_t> sizes{700, 400};
  const Floats gradient = gradient_of(sizes, 3);
  const Floats mean = decoded("qsgd", {}, sizes, gradient);
  for (std::size_t bucket = 0; bucket < gradient.size(); bucket += 512) {
    const std::size_t end = std::min(bucket + 512, gradient.size());
    double sum = 0;
    for (std::size_t i = bucket; i < end; ++i) {
      sum += static_cast<double>(gradient[i]) * static_cast<double>(gradient[i]);
    }
    const double level = std::sqrt(sum) / 127;
    for (std::size_t i = bucket; i < end; ++i) {
      ASSERT_LE(std::fabs(mean[i] - gradient[i]), 1.001 * level) << i;
    }
  }
}

TEST(TernGrad, SendsTheLargestMagnitudeOfEachTensorOrNothing) {
  const Floats mean = decoded("terngrad", {}, {4, 4}, {2, 2, 2, -2, 0.5F, -0.5F, 0, 0.5F});
  EXPECT_THAT(mean, ElementsAre(2, 2, 2, -2, 0.5F, -0.5F, 0, 0.5F));
}

TEST(TernGrad, ClipsAtTwoAndAHalfDeviations) {
  Floats gradient(100, 0.0F);
  gradient[7] = 10;  // deviates by 1
  const Floats mean = decoded("terngrad", {}, {100}, gradient);
  EXPECT_FLOAT_EQ(mean[7], 2.5F);
}

TEST(TopK, SendsTheLargestOfTheGroupTiesToTheLowerIndex) {
  EXPECT_THAT(decoded("topk", {{"density", 0.5}}, {3, 3}, {2, -5, 2, 1, 2, -2}),
              ElementsAre(2, -5, 2, 0, 0, 0));
}

TEST(TopK, IsTheMeanOverRanks) {
  const auto compressor = make("topk", {{"density", 0.5}});
  const GroupLayout group(0, {4});
  std::vector<Message> messages;
  const Floats gradients[] = {{4, 1, 0, -8}, {2, 1, 6, 0}};
  for (std::uint16_t rank = 0; rank < 2; ++rank) {
    Floats memory = no_memory(*compressor, group);
    messages.push_back(message_of(*compressor, group, {0, rank, 2}, gradients[rank], memory));
  }
  EXPECT_THAT(mean_of(*compressor, group, {0, 0, 2}, messages), ElementsAre(3, 0, 3, -4));
}

TEST(TopK, SendsInfinitiesFirstAndNoNumberNever) {
  const float inf = std::numeric_limits<float>::infinity();
  const auto compressor = make("topk", {{"density", 1.0}});
  const GroupLayout group(0, {4});
  Floats memory = no_memory(*compressor, group);
  const Decoded sent = alone(*compressor, group, {1, std::nanf(""), -inf, 2}, memory);
  EXPECT_THAT(sent.mean, ElementsAre(1, 0, -inf, 2));
  std::vector<std::int32_t> indices(4);
  std::memcpy(indices.data(), sent.message.data(), 4 * sizeof(std::int32_t));
  EXPECT_THAT(indices, ElementsAre(0, 2, 3, -1)) << "one place of the message stays empty";
  EXPECT_THAT(memory, Each(0.0F));
}

TEST(TopK, CountsInfinitiesThatItDoesNotSend) {
  const float inf = std::numeric_limits<float>::infinity();
  const auto compressor = make("topk", {{"density", 0.1}});
  const GroupLayout group(0, {10});
  Floats memory = no_memory(*compressor, group);
  MessageFacts facts;
  (void)message_of(*compressor, group, {0, 0, 1}, {inf, inf, -inf, 1, 2, 3, 4, 5, 6, 7}, memory,
                   &facts);
  EXPECT_EQ(facts.infinities, 3U);
}

TEST(TopK, AnInfinityThatIsNotSentLeavesTheResidual) {
  const float inf = std::numeric_limits<float>::infinity();
  const auto compressor = make("topk", {{"density", 0.34}});
  const GroupLayout group(0, {3});
  Floats memory = no_memory(*compressor, group);
  EXPECT_THAT(alone(*compressor, group, {inf, 5, inf}, memory).mean, ElementsAre(inf, 0, 0));
  EXPECT_THAT(memory, ElementsAre(0, 5, 0));
}

TEST(RandomK, PlacesAreAPermutation) {
  for (const std::uint64_t n : {1, 2, 3, 5, 16, 17, 64, 1000, 1025}) {
    std::set<std::uint64_t> places;
    for (std::uint64_t i = 0; i < n; ++i) places.insert(permuted(i, n, {.seed = n}));
    EXPECT_EQ(places.size(), n);
    EXPECT_LT(*places.rbegin(), n);
  }
}

TEST(RandomK, PlacesOfLargeGroupsStayInside) {
  for (const std::uint64_t n : {(std::uint64_t{1} << 31) + 11, (std::uint64_t{1} << 40) - 3}) {
    for (std::uint64_t i = 0; i < 100; ++i) EXPECT_LT(permuted(i, n, {.seed = 4}), n);
    EXPECT_LT(permuted(n - 1, n, {.seed = 4}), n);
  }
}

// By chi-squared: its mean is n - 1 or less, and a bound of six standard deviations more is passed
// once in far more than a million fair draws. Small groups show how well a permutation mixes.
TEST(RandomK, EveryPlaceIsSentAsOftenAsAnyOther) {
  constexpr std::uint32_t kIterations = 40000;
  for (const std::uint64_t n : {3U, 6U, 8U, 20U, 50U}) {
    const std::uint64_t k = std::max<std::uint64_t>(1, n / 6);
    std::vector<double> sent(n, 0.0);
    for (std::uint32_t iteration = 0; iteration < kIterations; ++iteration) {
      const DrawKey key{.seed = 1, .iteration = iteration};
      for (std::uint64_t j = 0; j < k; ++j) ++sent[permuted(j, n, key)];
    }
    const double expected = static_cast<double>(kIterations * k) / static_cast<double>(n);
    double squares = 0;
    for (const double count : sent) squares += (count - expected) * (count - expected) / expected;
    const auto degrees = static_cast<double>(n - 1);
    EXPECT_LT(squares, degrees + 6 * std::sqrt(2 * degrees)) << n;
  }
}

TEST(RandomK, ResidualsAreSentAsTheyAreWithoutTheFactor) {
  const Floats gradient(10, 3.0F);
  const auto values = [&](const char* memory) {
    std::set<float> seen;
    for (const float value :
         decoded("randk", {{"density", 0.2}, {"memory", memory}}, {10}, gradient)) {
      seen.insert(value);
    }
    return seen;
  };
  EXPECT_THAT(values("none"), ElementsAre(0, 15));
  EXPECT_THAT(values("residual"), ElementsAre(0, 3));
}

}  // namespace
}  // namespace mergewise::test
