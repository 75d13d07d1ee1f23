// SPDX-License-Identifier: Apache-2.0
#include "bench/strategies/horovod.hpp"

#include "bench/core/error.hpp"
#include "tests/unit/strategies/profiles.hpp"

#include <gmock/gmock.h>

#include <string>

namespace mergewise {
namespace {

using ::testing::ElementsAre;

Options rule(std::int64_t fusion, std::int64_t cycle, const std::string& completion = "async") {
  return Options({{"fusion_bytes", fusion}, {"cycle_ns", cycle}, {"completion", completion}});
}

MergePlan planned(const std::vector<test::Tensor>& tensors, const LinearCost& cost,
                  const Options& options) {
  return Horovod().plan(TimeModel(test::profile_of(tensors, cost)), options);
}

/// When each group's cycle started, after the start of the backward pass.
std::vector<Nanoseconds> cycles(const MergePlan& plan) {
  std::vector<Nanoseconds> starts;
  for (const Group& group : plan.groups) {
    starts.push_back(std::get<NotBefore>(group.release).after_backward_start);
  }
  return starts;
}

TEST(Horovod, ACycleTakesWhatIsReadyWhenItStarts) {
  // Ready at 10, 20, 30, 40, 50; cycles start at 0, 20, 40, 60.
  const MergePlan plan =
      planned({{4, 10}, {4, 10}, {4, 10}, {4, 10}, {4, 10}}, LinearCost{1, 0}, rule(1000, 20));
  EXPECT_THAT(plan.ends(), ElementsAre(2, 4, 5));
  EXPECT_THAT(cycles(plan), ElementsAre(20, 40, 60));
}

TEST(Horovod, TheFirstCycleStartsWithTheBackwardPass) {
  const MergePlan plan = planned({{4, 0}, {4, 1}}, LinearCost{1, 0}, rule(1000, 20));
  EXPECT_THAT(plan.ends(), ElementsAre(1, 2));
  EXPECT_THAT(cycles(plan), ElementsAre(0, 20));
}

TEST(Horovod, FusesUpToTheThresholdInclusive) {
  const std::vector<test::Tensor> tensors{{60, 0}, {40, 0}, {4, 0}, {96, 0}, {4, 0}};
  EXPECT_THAT(planned(tensors, LinearCost{1, 0}, rule(100, 20)).ends(), ElementsAre(2, 4, 5));
}

TEST(Horovod, ALargerTensorGoesAlone) {
  const std::vector<test::Tensor> tensors{{4, 0}, {400, 0}, {0, 0}, {4, 0}};
  EXPECT_THAT(planned(tensors, LinearCost{1, 0}, rule(100, 20)).ends(), ElementsAre(1, 2, 4));
}

TEST(Horovod, WithoutFusionEveryTensorGoesAlone) {
  EXPECT_THAT(planned({{4, 0}, {4, 0}, {8, 0}}, LinearCost{1, 0}, rule(0, 20)).ends(),
              ElementsAre(1, 2, 3));
}

TEST(Horovod, SynchronousCollectivesHoldUpTheLoop) {
  // Tensor 0 is sent from 20 to 75; with sync the next cycle starts there and not at 40.
  const std::vector<test::Tensor> tensors{{4, 20}, {4, 15}, {4, 15}, {4, 15}, {4, 15}};
  const LinearCost cost{55, 0};
  const MergePlan async = planned(tensors, cost, rule(1000, 20, "async"));
  EXPECT_THAT(async.ends(), ElementsAre(1, 2, 3, 5));
  EXPECT_THAT(cycles(async), ElementsAre(20, 40, 60, 80));
  const MergePlan sync = planned(tensors, cost, rule(1000, 20, "sync"));
  EXPECT_THAT(sync.ends(), ElementsAre(1, 4, 5));
  EXPECT_THAT(cycles(sync), ElementsAre(20, 75, 130));
}

TEST(Horovod, AllGroupsOfACycleEndBeforeTheNextWithSync) {
  // Two groups in the cycle at 0, sent until 60: the next cycle starts then.
  const MergePlan plan =
      planned({{80, 0}, {80, 0}, {4, 10}}, LinearCost{30, 0}, rule(100, 20, "sync"));
  EXPECT_THAT(plan.ends(), ElementsAre(1, 2, 3));
  EXPECT_THAT(cycles(plan), ElementsAre(0, 0, 60));
}

TEST(Horovod, ReadyTimesIncludeTheCompressionSoFar) {
  // Packing takes 15 per group: the first is ready at 10 + 15, the second at 15 + 15 + 15.
  Profile profile = test::profile_of({{4, 10}, {4, 5}}, LinearCost{1, 0});
  profile.pack = LinearCost{15, 0};
  const MergePlan plan = Horovod().plan(TimeModel(profile), rule(4, 30));
  EXPECT_THAT(plan.ends(), ElementsAre(1, 2));
  EXPECT_THAT(cycles(plan), ElementsAre(30, 60));
}

TEST(Horovod, SkipsCyclesWithoutWorkAtOnce) {
  // A thousand million cycles before anything is ready.
  const MergePlan plan = planned({{4, 1e9}, {4, 1e9}}, LinearCost{1, 0}, rule(1000, 1));
  EXPECT_THAT(cycles(plan), ElementsAre(1e9, 2e9));
}

TEST(Horovod, TheTimelineWaitsForTheCycles) {
  const TimeModel model(test::profile_of({{4, 10}}, LinearCost{5, 0}));
  // Forward 1000, ready at 1010, cycle at 1030.
  EXPECT_EQ(predict_iteration(model, Horovod().plan(model, rule(1000, 30))), 1035);
}

TEST(Horovod, ExplainsBordersByTimesAndSizes) {
  const TimeModel model(test::profile_of({{60, 0}, {40, 0}, {4, 0}, {4, 10}}, LinearCost{1, 0}));
  const Decisions decisions = Horovod().explain(model, rule(100, 20)).second;
  ASSERT_EQ(decisions.size(), 3U);
  EXPECT_TRUE(decisions[0].merged);
  EXPECT_EQ(decisions[0].unit, "bytes");
  EXPECT_EQ(decisions[0].left_value, 100);
  EXPECT_FALSE(decisions[1].merged);
  EXPECT_EQ(decisions[1].left_value, 104);
  EXPECT_EQ(decisions[1].right_value, 100);
  EXPECT_FALSE(decisions[2].merged);
  EXPECT_EQ(decisions[2].unit, "ns");
  EXPECT_EQ(decisions[2].left_value, 10);
  EXPECT_EQ(decisions[2].right_value, 0);
}

TEST(Horovod, RefusesCyclesOfNoLength) {
  EXPECT_THROW(planned({{4, 1}}, LinearCost{}, rule(1, 0)), InputError);
  EXPECT_THROW(planned({{4, 1}}, LinearCost{}, rule(1, 1, "later")), InputError);
}

}  // namespace
}  // namespace mergewise
