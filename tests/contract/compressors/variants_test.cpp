// SPDX-License-Identifier: Apache-2.0
// What the papers and their codes do otherwise than our defaults.
#include "kernels/primitives/sparse_entries.hpp"
#include "tests/contract/compressors/ranks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace mergewise::test {
namespace {

using ::testing::ElementsAre;

constexpr std::int64_t kTwo = 2;

TEST(ScaleOfTheGroup, IsOneForAllTensors) {
  const std::vector<std::size_t> sizes{2, 2};
  const Floats gradient{4, -4, 2, -2};
  EXPECT_THAT(decoded("ef_signsgd", {{"scale", "group"}}, sizes, gradient),
              ElementsAre(3, -3, 3, -3));
  EXPECT_THAT(decoded("onebit", {{"scale", "group"}}, sizes, gradient), ElementsAre(3, -3, 3, -3));
  const Floats ternary = decoded("terngrad", {{"scale", "group"}}, sizes, gradient);
  EXPECT_THAT(ternary, ::testing::Each(::testing::AnyOf(0, 4, -4)));
}

// What merging scales costs: the small tensor's signal.
TEST(ScaleOfTheGroup, DrownsTensorsOfSmallGradients) {
  const std::vector<std::size_t> sizes{1000, 1000};  // a hundredfold apart
  const Floats gradient = gradient_of(sizes, 1);
  const auto error = [&](const char* scale) {
    const Floats mean = decoded("ef_signsgd", {{"scale", scale}}, sizes, gradient);
    double off = 0;
    double whole = 0;
    for (std::size_t i = 1000; i < 2000; ++i) {
      off += std::fabs(static_cast<double>(mean[i] - gradient[i]));
      whole += std::fabs(static_cast<double>(gradient[i]));
    }
    return off / whole;
  };
  EXPECT_LT(error("tensor"), 1);
  EXPECT_GT(error("group"), 20);
}

TEST(Qsgd, BucketOfZeroIsTheWholeGroup) {
  Floats gradient(1024, 0.0F);
  gradient[100] = -3;
  gradient[600] = 4;
  const auto compressor = make("qsgd", {{"bucket", std::int64_t{0}}});
  const GroupLayout group(0, {1024});
  Floats none;
  const Message message = alone(*compressor, group, gradient, none).message;
  ASSERT_EQ(message.size(), 1024U + 4U);
  EXPECT_EQ(load<float>(message.data() + 1024), 5);
}

TEST(SeparateMessages, SayWhatOneSays) {
  const std::vector<std::size_t> sizes{300, 50};
  const GroupLayout group(0, sizes);
  for (const auto& [id, given] : std::vector<std::pair<const char*, Given>>{
           {"topk", {{"density", 0.1}}}, {"randk", {{"density", 0.1}, {"indices", "sent"}}}}) {
    const auto mean = [&, id = id](const Given& options) {
      const auto compressor = make(id, options, 4);
      std::vector<Message> messages;
      for (std::uint16_t rank = 0; rank < 3; ++rank) {
        Floats memory = no_memory(*compressor, group);
        messages.push_back(
            message_of(*compressor, group, {0, rank, 3}, gradient_of(sizes, rank), memory));
      }
      return mean_of(*compressor, group, {0, 0, 3}, messages);
    };
    Given apart = given;
    apart["messages"] = kTwo;
    EXPECT_EQ(mean(given), mean(apart)) << id;
  }
}

TEST(RandomPlacesThatAreSent, AreEachRanksOwn) {
  const auto compressor = make("randk", {{"density", 0.1}, {"indices", "sent"}}, 2);
  const GroupLayout group(0, {1000});
  Floats none;
  const auto places = [&](std::uint16_t rank) {
    const Message message = message_of(*compressor, group, {0, rank, 2}, Floats(1000, 1.0F), none);
    std::set<std::int32_t> seen;
    for (std::size_t j = 0; j < 100; ++j) seen.insert(load<std::int32_t>(message.data(), j));
    return seen;
  };
  const auto first = places(0);
  EXPECT_EQ(first.size(), 100U) << "no place twice";
  EXPECT_GE(*first.begin(), 0);
  EXPECT_LT(*first.rbegin(), 1000);
  EXPECT_NE(first, places(1));
}

// Indices of large groups are wider: the arithmetic, without the memory.
TEST(Indices, AreAsWideAsTheGroupNeeds) {
  EXPECT_EQ(index_bytes((std::uint64_t{1} << 31) - 1), 4U);
  EXPECT_EQ(index_bytes(std::uint64_t{1} << 31), 8U);
  std::byte bytes[4 * (8 + 4)];
  const SparseEntries wide{bytes, bytes + 4 * 8, 8};
  wide.set(3, (std::int64_t{1} << 40) + 5, 2.5F);
  EXPECT_EQ(wide.index(3), (std::int64_t{1} << 40) + 5);
  EXPECT_EQ(wide.value(3), 2.5F);
}

}  // namespace
}  // namespace mergewise::test
