// SPDX-License-Identifier: Apache-2.0
#include "bench/strategies/omgs.hpp"

#include "bench/strategies/mg_wfbp.hpp"
#include "tests/unit/strategies/profiles.hpp"

#include <gmock/gmock.h>

namespace mergewise {
namespace {

using ::testing::ElementsAre;

/// A quarter of the elements are sent, as 8 bytes each, one at least.
Profile sparse(const std::vector<test::Tensor>& tensors, const LinearCost& compress,
               const LinearCost& all_gather) {
  Profile profile = test::profile_of(tensors, CostModel{});
  profile.all_gather.emplace();
  profile.all_gather->isolated = all_gather;
  profile.compressor = "topk";
  profile.density = 0.25;
  profile.compressors["topk"] = {.compress = compress, .decompress = CostModel{}};
  return profile;
}

std::vector<std::size_t> ends(const Profile& profile) {
  return Omgs().plan(TimeModel(profile), {}).ends();
}

TEST(Omgs, MergesWhenWaitingCostsLessThanMergingSaves) {
  EXPECT_THAT(ends(sparse({{32, 10}, {32, 9}}, {0, 0.125}, {10, 1})), ElementsAre(2));
  EXPECT_THAT(ends(sparse({{32, 10}, {32, 10}}, {0, 0.125}, {10, 1})), ElementsAre(1, 2));
}

TEST(Omgs, MergingSavesTheStartUpOfCompressionToo) {
  // 19 of backward time against 10 saved on the network and 10 in compression.
  EXPECT_THAT(ends(sparse({{32, 10}, {32, 19}}, {10, 0.125}, {10, 1})), ElementsAre(2));
  EXPECT_THAT(ends(sparse({{32, 10}, {32, 20}}, {10, 0.125}, {10, 1})), ElementsAre(1, 2));
}

TEST(Omgs, WaitingForTheNetworkAnywayIsFree) {
  // Tensor 0 is sent until 10 + 58; tensor 1 would wait for it from 31 on, a slack of 37, and
  // merging the two small ones saves 18.
  const LinearCost all_gather{10, 1};
  EXPECT_THAT(ends(sparse({{96, 10}, {4, 21}, {4, 54}}, {0, 0}, all_gather)), ElementsAre(1, 3));
  EXPECT_THAT(ends(sparse({{96, 10}, {4, 21}, {4, 55}}, {0, 0}, all_gather)), ElementsAre(1, 2, 3));
}

TEST(Omgs, CountsTheMessagesAsTheyAreSent) {
  // One element is the least, of one as of two: merging saves the second message's 8 bytes beside
  // its start-up.
  EXPECT_THAT(ends(sparse({{4, 10}, {4, 17}}, {0, 0}, {10, 1})), ElementsAre(2));
  EXPECT_THAT(ends(sparse({{4, 10}, {4, 18}}, {0, 0}, {10, 1})), ElementsAre(1, 2));
}

TEST(Omgs, AnEmptyTensorMergesOnlyWhileTheNetworkIsBusyAnyway) {
  const LinearCost all_gather{10, 1};
  EXPECT_THAT(ends(sparse({{32, 10}, {0, 100}, {32, 1}}, {0, 0}, all_gather)),
              ElementsAre(1, 2, 3));
  EXPECT_THAT(ends(sparse({{32, 10}, {0, 1}, {32, 1}}, {0, 0}, all_gather)), ElementsAre(1, 3));
}

TEST(Omgs, ExplainsBothSidesOfEveryBorder) {
  const TimeModel model(sparse({{32, 10}, {32, 19}, {32, 21}}, {10, 0.125}, {10, 1}));
  const Decisions decisions = Omgs().explain(model, {}).second;
  ASSERT_EQ(decisions.size(), 2U);
  EXPECT_TRUE(decisions[0].merged);
  EXPECT_EQ(decisions[0].left_value, 19 - 10);
  EXPECT_EQ(decisions[0].right_value, 10);
  EXPECT_FALSE(decisions[1].merged);
  EXPECT_EQ(decisions[1].left_value, 21 - 10);
  EXPECT_EQ(decisions[1].right_value, 10);
}

TEST(Omgs, IsMgWfbpWhereGroupsCostOnlyTheirTransfer) {
  // b - slack is R[i+1] - s; where that is negative both merge, for a start-up is worth something.
  test::Random random(9);
  for (int round = 0; round < 300; ++round) {
    const test::Shape shape{.zero_times = round % 2 == 0, .small_integers = round % 3 == 0};
    const auto tensors = random.tensors(static_cast<std::size_t>(random.integer(1, 60)), shape);
    LinearCost line = random.line(shape);
    line.a_ns += 1;
    const TimeModel model(test::profile_of(tensors, line));
    EXPECT_EQ(Omgs().plan(model, {}).ends(), MgWfbp().plan(model, {}).ends()) << "round " << round;
  }
}

}  // namespace
}  // namespace mergewise
