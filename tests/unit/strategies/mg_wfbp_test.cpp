// SPDX-License-Identifier: Apache-2.0
#include "bench/strategies/mg_wfbp.hpp"

#include "tests/unit/strategies/profiles.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace mergewise {
namespace {

using ::testing::ElementsAre;

std::vector<std::size_t> ends(const Profile& profile, const Options& options = {}) {
  return MgWfbp().plan(TimeModel(profile), options).ends();
}
std::vector<std::size_t> ends(const std::vector<test::Tensor>& tensors, CostModel cost,
                              const Options& options = {}) {
  return ends(test::profile_of(tensors, std::move(cost)), options);
}

/// The rule as published, for positive sizes and a > 0: merge while the next gradient is ready less
/// than a after this group could start.
std::vector<std::size_t> published_rule(const std::vector<test::Tensor>& tensors,
                                        const LinearCost& line) {
  std::vector<std::size_t> ends;
  Nanoseconds sent = 0;
  Nanoseconds ready = 0;
  Bytes merged = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    ready += tensors[i].backward;
    merged += tensors[i].bytes;
    const Nanoseconds start = std::max(sent, ready);
    const bool last = i + 1 == tensors.size();
    if (!last && ready + tensors[i + 1].backward < start + line.a_ns) continue;
    ends.push_back(i + 1);
    sent = start + line.at(merged);
    merged = 0;
  }
  return ends;
}

TEST(MgWfbp, MergesWhenWaitingCostsLessThanTheStartUp) {
  EXPECT_THAT(ends({{4, 10}, {4, 9}}, LinearCost{10, 1}), ElementsAre(2));
}

TEST(MgWfbp, ClosesWhenWaitingCostsAsMuchAsTheStartUp) {
  EXPECT_THAT(ends({{4, 10}, {4, 10}}, LinearCost{10, 1}), ElementsAre(1, 2));
}

TEST(MgWfbp, WaitingBehindThePreviousGroupIsFree) {
  // Tensor 1 may not start before 110 anyway, and tensor 2 is ready at 111.
  EXPECT_THAT(ends({{90, 10}, {4, 50}, {4, 51}}, LinearCost{10, 1}), ElementsAre(1, 3));
}

TEST(MgWfbp, IsNotOptimal) {
  // The smallest counter-example to the rule: one group takes 24, {0}{1, 2} takes 20.
  const std::vector<test::Tensor> tensors{{5, 1}, {1, 5}, {1, 5}};
  EXPECT_THAT(ends(tensors, LinearCost{6, 1}), ElementsAre(3));
  Profile profile = test::profile_of(tensors, LinearCost{6, 1});
  profile.forward_ns = 0;
  const TimeModel model(profile);
  EXPECT_EQ(predict_iteration(model, plan_from_ends("t", {3})), 24);
  EXPECT_EQ(predict_iteration(model, plan_from_ends("t", {1, 3})), 20);
}

TEST(MgWfbp, IsThePublishedRuleForPositiveSizesAndStartUps) {
  test::Random random(7);
  for (int round = 0; round < 500; ++round) {
    const test::Shape shape{.zero_times = round % 2 == 0, .small_integers = round % 3 == 0};
    const auto tensors = random.tensors(static_cast<std::size_t>(random.integer(1, 60)), shape);
    LinearCost line = random.line(shape);
    line.a_ns += 1;
    EXPECT_EQ(ends(tensors, line), published_rule(tensors, line)) << "round " << round;
  }
}

TEST(MgWfbp, EmptyTensorNeverMerges) {
  EXPECT_THAT(ends({{0, 1}, {4, 1}, {4, 1}, {0, 1}, {0, 1}, {4, 1}}, LinearCost{100, 1}),
              ElementsAre(1, 3, 4, 5, 6));
}

TEST(MgWfbp, FollowsAJumpOfTheMeasuredCost) {
  // Up to 10 bytes a collective takes 100 whatever its size, beyond it jumps to 1000.
  const MeasuredCost cost{{{1, 100}, {10, 100}, {11, 1000}, {20, 1000}}};
  EXPECT_THAT(ends({{5, 10}, {5, 10}, {5, 10}, {5, 10}}, cost), ElementsAre(2, 4));
}

TEST(MgWfbp, SmallGroupsAlwaysMergeOn) {
  const std::vector<test::Tensor> tensors{{4, 10}, {4, 1000}, {16, 1000}, {0, 9}, {8, 1000}};
  EXPECT_THAT(ends(tensors, LinearCost{1, 1}), ElementsAre(1, 2, 3, 4, 5));
  const Options at_least_two({{"min_elements", std::int64_t{2}}});
  EXPECT_THAT(ends(tensors, LinearCost{1, 1}, at_least_two), ElementsAre(2, 3, 5));
}

TEST(MgWfbp, WaitsForTheCompressionOfTheLargerGroup) {
  // Tensor 1 is ready 10 after tensor 0, less than the start-up of 20; but compressing the pair
  // takes 40 longer than tensor 0 alone.
  Profile profile = test::profile_of({{40, 10}, {40, 10}}, LinearCost{20, 1});
  EXPECT_THAT(ends(profile), ElementsAre(2));
  profile.pack = LinearCost{0, 1};
  EXPECT_THAT(ends(profile), ElementsAre(1, 2));
}

TEST(MgWfbp, CompressionThatComesAnywayDoesNotCount) {
  // Each group takes 30 to compress, merged or not.
  Profile profile = test::profile_of({{40, 10}, {40, 10}}, LinearCost{20, 1});
  profile.pack = LinearCost{30, 0};
  EXPECT_THAT(ends(profile), ElementsAre(2));
}

TEST(MgWfbp, ReadyTimesIncludeTheCompressionOfEarlierGroups) {
  // Group 0 ends at 330. Tensor 1 is ready at 200, compressed at 400: its group waits for nobody,
  // and tensor 2 comes 40 later, more than the start-up of 20.
  Profile profile = test::profile_of({{200, 10}, {4, 190}, {4, 40}}, LinearCost{20, 1});
  profile.pack = LinearCost{100, 0};
  EXPECT_THAT(ends(profile), ElementsAre(1, 2, 3));
}

TEST(MgWfbp, ExplainsBothSidesOfEveryBorder) {
  // The smallest counter-example: s = 1, then s = 6.
  const TimeModel model(test::profile_of({{5, 1}, {1, 5}, {1, 5}}, LinearCost{6, 1}));
  const Decisions decisions = MgWfbp().explain(model, {}).second;
  ASSERT_EQ(decisions.size(), 2U);
  EXPECT_TRUE(decisions[0].merged);
  EXPECT_EQ(decisions[0].left_value, 6 + 12);
  EXPECT_EQ(decisions[0].right_value, 1 + 11 + 7);
  EXPECT_TRUE(decisions[1].merged);
  EXPECT_EQ(decisions[1].left_value, 11 + 13);
  EXPECT_EQ(decisions[1].right_value, 6 + 12 + 7);
}

TEST(MgWfbp, ExplainsGroupsThatAreTooSmallBySize) {
  const TimeModel model(test::profile_of({{8, 10}, {4, 1000}}, LinearCost{1, 1}));
  const Options at_least_three({{"min_elements", std::int64_t{3}}});
  const Decisions decisions = MgWfbp().explain(model, at_least_three).second;
  ASSERT_EQ(decisions.size(), 1U);
  EXPECT_TRUE(decisions[0].merged);
  EXPECT_EQ(decisions[0].unit, "bytes");
  EXPECT_EQ(decisions[0].left_value, 8);
  EXPECT_EQ(decisions[0].right_value, 12);
}

}  // namespace
}  // namespace mergewise
