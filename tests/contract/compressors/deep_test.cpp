// SPDX-License-Identifier: Apache-2.0
// Deep gradient compression, step by step.
#include "tests/contract/compressors/ranks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mergewise::test {
namespace {

using ::testing::ElementsAre;

constexpr CompressStep kAlone{.iteration = 0, .rank = 0, .ranks = 1};

TEST(Dgc, WhatIsSentAndTheVelocityThatIsKeptAddUp) {
  const std::vector<std::size_t> sizes{700, 3000, 40};
  const auto compressor = make("dgc", {{"density", 0.05}}, 3);
  const GroupLayout group(0, sizes);
  Floats memory = no_memory(*compressor, group);
  std::size_t sent = 0;
  for (std::uint32_t iteration = 0; iteration < 6; ++iteration) {
    const Floats gradient = gradient_of(sizes, iteration);
    const Floats before = memory;
    const Floats mean = alone(*compressor, group, gradient, memory, iteration).mean;
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const float momentum = 0.9F * before[2 * i] + gradient[i];
      const float velocity = before[2 * i + 1] + momentum;
      if (mean[i] != 0) {
        ++sent;
        ASSERT_EQ(mean[i], velocity) << i;
        ASSERT_EQ(memory[2 * i], 0) << "momentum of what was sent is masked";
        ASSERT_EQ(memory[2 * i + 1], 0);
      } else {
        ASSERT_EQ(memory[2 * i], momentum) << i;
        ASSERT_EQ(memory[2 * i + 1], velocity);
      }
    }
  }
  EXPECT_GT(sent, 0U);
  EXPECT_LE(sent, 6U * 187U) << "floor(0.05 of 3740) at the most";
}

TEST(Dgc, MessagesAreAsLongAsWhatTheySay) {
  const auto compressor = make("dgc", {{"density", 0.5}});
  const GroupLayout group(0, {8});
  Floats memory = no_memory(*compressor, group);
  MessageFacts facts;
  const Message message =
      message_of(*compressor, group, kAlone, {0, 0, 5, 0, -6, 0, 0, 0}, memory, &facts);
  EXPECT_EQ(compressor->message_bytes(group), 4U * 8U);
  ASSERT_EQ(facts.bytes, 2U * 8U) << "zeros are not sent";
  EXPECT_EQ(load<std::int32_t>(message.data(), 0), 2);
  EXPECT_EQ(load<std::int32_t>(message.data(), 1), 4);
  EXPECT_EQ(load<float>(message.data(), 2), 5);
  EXPECT_EQ(load<float>(message.data(), 3), -6);
}

TEST(Dgc, RanksMaySendUnequalNumbers) {
  const auto compressor = make("dgc", {{"density", 0.5}});
  const GroupLayout group(0, {6});
  std::vector<Message> messages;
  const Floats gradients[] = {{3, 0, 0, 0, 0, 0}, {1, 0, 0, 9, 0, -5}, {0, 0, 0, 0, 0, 0}};
  for (std::uint16_t rank = 0; rank < 3; ++rank) {
    Floats memory = no_memory(*compressor, group);
    messages.push_back(message_of(*compressor, group, {0, rank, 3}, gradients[rank], memory));
  }
  EXPECT_EQ(messages[0].size(), 8U);
  EXPECT_EQ(messages[1].size(), 24U);
  EXPECT_EQ(messages[2].size(), 0U);
  const Floats mean = mean_of(*compressor, group, {0, 0, 3}, messages);
  EXPECT_FLOAT_EQ(mean[0], 4.0F / 3);
  EXPECT_FLOAT_EQ(mean[3], 3);
  EXPECT_FLOAT_EQ(mean[5], -5.0F / 3);
}

TEST(Dgc, TensorsOfOneDimensionGoAsTheyAreWithMomentum) {
  const std::vector<std::size_t> sizes{3, 4};
  const auto compressor = make("dgc", {{"density", 0.5}});
  const GroupLayout group(0, sizes, {true, false});
  Floats memory = no_memory(*compressor, group);
  const Floats gradient{1, 2, 3, 8, 7, 1, 1};
  EXPECT_THAT(alone(*compressor, group, gradient, memory).mean, ElementsAre(1, 2, 3, 8, 7, 0, 0));
  const Floats second = alone(*compressor, group, gradient, memory, 1).mean;
  EXPECT_FLOAT_EQ(second[0], 1.9F) << "momentum of vectors is kept";
  EXPECT_FLOAT_EQ(second[3], 8) << "that of what was sent is not";
  EXPECT_EQ(make("dgc", {{"density", 0.5}, {"vectors", "sparse"}})->message_bytes(group), 3U * 8U);
}

// Each tensor has a threshold of its own, so one of small gradients is heard too.
TEST(Dgc, TensorsOfSmallGradientsAreSentToo) {
  const std::vector<std::size_t> sizes{20000, 20000};  // a hundredfold apart
  const auto compressor = make("dgc", {{"density", 0.01}}, 1);
  const GroupLayout group(0, sizes);
  Floats memory = no_memory(*compressor, group);
  const auto count = [&](std::uint32_t iteration) {
    const Floats mean =
        alone(*compressor, group, gradient_of(sizes, iteration), memory, iteration).mean;
    const auto half = mean.begin() + 20000;
    const auto sent = [](auto from, auto to) {
      return std::count_if(from, to, [](float value) { return value != 0; });
    };
    return std::pair(sent(mean.begin(), half), sent(half, mean.end()));
  };
  std::ptrdiff_t large = 0;
  std::ptrdiff_t small = 0;
  for (std::uint32_t iteration = 0; iteration < 20; ++iteration) {
    const auto [first, second] = count(iteration);
    large += first;
    small += second;
  }
  EXPECT_GT(large, 20 * 50);
  EXPECT_GT(small, 20 * 50);
}

TEST(Dgc, WarmUpSendsAQuarterAtFirst) {
  const std::vector<std::size_t> sizes{4000};
  const auto compressor = make("dgc", {{"density", 0.01}, {"warm_up", std::int64_t{4}}});
  const GroupLayout group(0, sizes);
  EXPECT_EQ(compressor->message_bytes(group), 1000U * 8U) << "the largest of all iterations";
  std::vector<std::uint64_t> most;
  for (const std::uint32_t iteration : {0U, 2U, 4U, 100U}) {
    Floats memory = no_memory(*compressor, group);
    MessageFacts facts;
    (void)message_of(*compressor, group, {iteration, 0, 1}, gradient_of(sizes, 1), memory, &facts);
    most.push_back(facts.bytes / 8);
  }
  EXPECT_LE(most[0], 1000U);
  EXPECT_GT(most[0], 600U);
  EXPECT_LE(most[1], 200U);
  EXPECT_LE(most[2], 40U);
  EXPECT_LE(most[3], 40U);
}

TEST(Dgc, ClipsTheNormOfTheGradient) {
  const auto compressor = make("dgc", {{"density", 1.0}, {"clip", 1.0}});
  const GroupLayout group(0, {2});
  Floats memory = no_memory(*compressor, group);
  const Floats mean = alone(*compressor, group, {3, 4}, memory).mean;
  EXPECT_FLOAT_EQ(mean[0], 0.6F);
  EXPECT_FLOAT_EQ(mean[1], 0.8F);
  memory = no_memory(*compressor, group);
  EXPECT_THAT(alone(*compressor, group, {0.25F, 0.5F}, memory).mean, ElementsAre(0.25F, 0.5F));
}

}  // namespace
}  // namespace mergewise::test
