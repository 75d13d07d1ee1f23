// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/compressors/cases.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <utility>

namespace mergewise::test {
namespace {

using ::testing::Each;

/// Those that keep what their messages do not say.
class ResidualContract : public CompressorContract {};
/// Those whose scales are each tensor's own; QSGD's buckets go across tensors.
class MergingContract : public CompressorContract {};

TEST_P(CompressorContract, RunsRepeatBitForBit) {
  const GroupLayout group(3, kSizes, kVectors);
  const Floats gradient = gradient_of(kSizes, 1);
  const auto run = [&] {
    const auto compressor = make();
    Floats memory = no_memory(*compressor, group);
    Message all;
    for (std::uint32_t iteration = 0; iteration < 3; ++iteration) {
      const Message message = message_of(*compressor, group, {iteration, 1, 4}, gradient, memory);
      all.insert(all.end(), message.begin(), message.end());
    }
    return std::pair(all, memory);
  };
  EXPECT_EQ(run(), run());
}

TEST_P(ResidualContract, WhatIsSentAndWhatIsKeptAddUp) {
  const auto compressor = make();
  const GroupLayout group(0, kSizes, kVectors);
  Floats memory = no_memory(*compressor, group);
  for (std::uint32_t iteration = 0; iteration < 4; ++iteration) {
    const Floats gradient = gradient_of(kSizes, 10 + iteration);
    const Floats before = memory;
    const Floats sent = alone(*compressor, group, gradient, memory, iteration).mean;
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const float whole = gradient[i] + before[i];
      const float largest = std::max({std::fabs(whole), std::fabs(sent[i]), std::fabs(memory[i])});
      if (is_sparse(GetParam().id)) {
        ASSERT_EQ(sent[i] != 0 ? sent[i] : memory[i], whole) << i;
        ASSERT_TRUE(sent[i] == 0 || memory[i] == 0) << i;
      } else {
        ASSERT_NEAR(sent[i] + memory[i], whole, 2e-7F * largest) << i;
      }
    }
  }
}

TEST_P(ResidualContract, SendsEverythingInTheEnd) {
  const auto compressor = make();
  const GroupLayout group(0, kSizes, kVectors);
  Floats memory = no_memory(*compressor, group);
  const Floats gradient = gradient_of(kSizes, 1);
  std::vector<double> sums(gradient.size(), 0.0);
  std::vector<float> largest(gradient.size(), 0.0F);  // number that was rounded
  constexpr std::uint32_t kIterations = 400;
  for (std::uint32_t iteration = 0; iteration < kIterations; ++iteration) {
    const Floats sent = alone(*compressor, group, gradient, memory, iteration).mean;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i] += static_cast<double>(sent[i]);
      const float whole = std::fabs(gradient[i]) + std::fabs(memory[i]) + std::fabs(sent[i]);
      largest[i] = std::max(largest[i], whole);
    }
  }
  // What is left is what is still in the memory.
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const double whole = kIterations * static_cast<double>(gradient[i]);
    ASSERT_NEAR(sums[i] + static_cast<double>(memory[i]), whole,
                kIterations * 0x1p-23 * static_cast<double>(largest[i]))
        << i;
  }
}

TEST_P(MergingContract, MergingMessagesMergesNothingElse) {
  const auto compressor = make(1.0);  // all places, so that groups select alike
  const GroupLayout merged(0, kSizes, kVectors);
  const std::vector<std::size_t> first(kSizes.begin(), kSizes.begin() + 4);
  const std::vector<std::size_t> second(kSizes.begin() + 4, kSizes.end());
  const GroupLayout parts[] = {
      GroupLayout(0, first, std::vector<bool>(kVectors.begin(), kVectors.begin() + 4)),
      GroupLayout(4, second, std::vector<bool>(kVectors.begin() + 4, kVectors.end()))};
  Floats together = no_memory(*compressor, merged);
  Floats apart = together;
  for (std::uint32_t iteration = 0; iteration < 3; ++iteration) {
    const Floats gradient = gradient_of(kSizes, 20 + iteration);
    const Floats mean = alone(*compressor, merged, gradient, together, iteration).mean;
    Floats means;
    Floats memories;
    std::size_t begin = 0;
    for (const GroupLayout& part : parts) {
      const auto cut = [&](const Floats& all) {
        const std::size_t each = all.size() / merged.elements();
        const auto from = all.begin() + static_cast<std::ptrdiff_t>(each * begin);
        return Floats(from, from + static_cast<std::ptrdiff_t>(each * part.elements()));
      };
      Floats memory = compressor->memory_floats() > 0 ? cut(apart) : Floats{};
      const Floats own = alone(*compressor, part, cut(gradient), memory, iteration).mean;
      means.insert(means.end(), own.begin(), own.end());
      memories.insert(memories.end(), memory.begin(), memory.end());
      begin += part.elements();
    }
    apart = memories;
    ASSERT_EQ(means, mean) << "merging messages merges no scales and no draws";
    ASSERT_EQ(apart, together);
  }
}

TEST_P(CompressorContract, AllRanksTakeTheSameMean) {
  const auto compressor = make();
  const GroupLayout group(0, kSizes, kVectors);
  std::vector<Message> messages;
  for (std::uint16_t rank = 0; rank < 4; ++rank) {
    Floats memory = no_memory(*compressor, group);
    messages.push_back(
        message_of(*compressor, group, {2, rank, 4}, gradient_of(kSizes, rank), memory));
  }
  const Floats mean = mean_of(*compressor, group, {2, 0, 4}, messages);
  for (std::uint16_t rank = 1; rank < 4; ++rank) {
    EXPECT_EQ(mean_of(*compressor, group, {2, rank, 4}, messages), mean) << rank;
  }
}

TEST_P(CompressorContract, ZerosStayZerosOrSigns) {
  const auto compressor = make();
  const GroupLayout group(0, kSizes, kVectors);
  Floats memory = no_memory(*compressor, group);
  const bool votes = GetParam().id == "signsgd" || GetParam().id == "signum";
  for (const float value : alone(*compressor, group, Floats(total(kSizes), 0), memory).mean) {
    ASSERT_EQ(std::fabs(value), votes ? 1.0F : 0.0F);
  }
  EXPECT_THAT(memory, Each(0.0F));
}

TEST_P(CompressorContract, CountsWhatIsNoNumberOrInfinite) {
  const auto compressor = make(1.0);
  const GroupLayout group(0, {64, 5000});
  Floats gradient = gradient_of({64, 5000}, 1);
  MessageFacts facts;
  Floats memory = no_memory(*compressor, group);
  (void)message_of(*compressor, group, {0, 0, 1}, gradient, memory, &facts);
  EXPECT_EQ(facts.nans, 0U);
  EXPECT_EQ(facts.infinities, 0U);
  gradient[3] = std::numeric_limits<float>::quiet_NaN();
  gradient[4700] = std::numeric_limits<float>::signaling_NaN();
  gradient[9] = std::numeric_limits<float>::infinity();
  gradient[70] = -std::numeric_limits<float>::infinity();
  gradient[5000] = std::numeric_limits<float>::infinity();
  memory = no_memory(*compressor, group);
  (void)message_of(*compressor, group, {0, 0, 1}, gradient, memory, &facts);
  EXPECT_EQ(facts.nans, 2U);
  EXPECT_EQ(facts.infinities, 3U);
}

TEST_P(ResidualContract, LargeAndTinyNumbersStayNumbers) {
  const auto compressor = make(0.5);
  const GroupLayout group(0, {4, 4});
  for (const float x : {3e38F, 1e-23F, 1e-44F}) {
    if (x > 1 && compressor->summed_as() == DType::kFloat16) continue;  // says infinity
    Floats memory = no_memory(*compressor, group);
    const Floats gradient{x, -x, x, x, -x, x / 2, x, 0};
    for (std::uint32_t iteration = 0; iteration < 2; ++iteration) {
      MessageFacts facts;
      const Floats now = iteration == 0 ? gradient : Floats(8, 0.0F);
      const Message message =
          message_of(*compressor, group, {iteration, 0, 1}, now, memory, &facts);
      EXPECT_EQ(facts.nans + facts.infinities, 0U) << x;
      for (const float kept : memory) EXPECT_TRUE(std::isfinite(kept)) << x;
      for (const float said : mean_of(*compressor, group, {iteration, 0, 1}, {message})) {
        EXPECT_TRUE(std::isfinite(said)) << x;
      }
    }
  }
}

TEST_P(CompressorContract, WhatIsNoNumberSpoilsNothingElse) {
  const auto compressor = make(1.0);
  const GroupLayout group(0, {64, 16});
  Floats gradient = gradient_of({64, 16}, 1);
  gradient[3] = std::numeric_limits<float>::quiet_NaN();
  gradient[9] = std::numeric_limits<float>::infinity();
  gradient[70] = -std::numeric_limits<float>::infinity();
  Floats memory = no_memory(*compressor, group);
  const Floats mean = alone(*compressor, group, gradient, memory).mean;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    EXPECT_TRUE(std::isfinite(mean[i]) || !std::isfinite(gradient[i])) << i;
  }
  for (const float kept : memory) EXPECT_TRUE(std::isfinite(kept));
}

TEST_P(CompressorContract, SmallGroupsOfAnySizeAreFine) {
  const auto compressor = make(0.5);
  std::vector<std::size_t> sizes{63, 64, 65, 128, 511, 512, 513};
  for (std::size_t size = 0; size < 40; ++size) sizes.push_back(size);
  for (const std::size_t size : sizes) {
    const GroupLayout group(0, {size});
    Floats memory = no_memory(*compressor, group);
    const Floats mean = alone(*compressor, group, gradient_of({size}, size), memory).mean;
    EXPECT_EQ(mean.size(), size);
    for (const float value : mean) EXPECT_NE(value, -77.0F) << "every element is written";
  }
}

INSTANTIATE_TEST_SUITE_P(All, CompressorContract, testing::ValuesIn(cases()), name_of_case);
INSTANTIATE_TEST_SUITE_P(All, ResidualContract, testing::ValuesIn(cases_where([](const Case& one) {
                           return make(one.id, one.given)->spec().memory == "residual";
                         })),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(All, MergingContract, testing::ValuesIn(cases_where([](const Case& one) {
                           return one.id != "qsgd" && !is(one, "scale", "group") &&
                                  !one.given.contains("clip");
                         })),
                         name_of_case);

}  // namespace
}  // namespace mergewise::test
