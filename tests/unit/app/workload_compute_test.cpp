// SPDX-License-Identifier: Apache-2.0
#include "bench/app/workload_compute.hpp"

#include "bench/app/case_set.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mergewise {
namespace {

using ::testing::ElementsAre;

// Ready order: the last layer's weight and bias, then the first layer's weight. Between the two, in
// forward order, a layer without tensors.
Workload three_layers() {
  Workload workload;
  workload.name = "three";
  workload.forward_ns = 100;
  workload.tensors = {{"last.weight", "last", {}, 400, 30, 50},
                      {"last.bias", "last", {}, 4, 0, 0},
                      {"first.weight", "first", {}, 40, 70, 60}};
  workload.layers.resize(3);
  workload.layers[0].layer = "first";
  workload.layers[1].layer = "relu";
  workload.layers[2].layer = "last";
  workload.backward_layers = {{2}, {}, {1, 0}};
  return workload;
}

TEST(WorkloadCompute, HeldTimesAreAStepForEachTensorAndALayerBeginsWithItsFirst) {
  const Workload workload = three_layers();
  EXPECT_EQ(make_compute(workload, true)->forward_steps(), 3U);
  EXPECT_THAT(make_iteration(workload, true, 4).forward_step, ElementsAre(1, 1, 0));
  EXPECT_EQ(make_iteration(workload, true, 4).accumulation, 4);
}

TEST(WorkloadCompute, RealWorkIsAStepForEachLayer) {
  EXPECT_THAT(make_iteration(three_layers(), false, 1).forward_step, ElementsAre(2, 2, 0));
}

TEST(WorkloadCompute, MeasuredForwardTimeBelongsToTheTensorWhoseBackwardWorkTheLayersAre) {
  Workload workload = three_layers();
  use_measured_times(workload, {9, {1, 2, 4}, {10, 20, 30}});
  EXPECT_EQ(workload.times, TimesKind::kMeasured);
  EXPECT_EQ(workload.forward_ns, 7) << "of the steps, so that the tensors' add up to it";
  EXPECT_EQ(workload.tensors[0].forward_ns, 4);
  EXPECT_EQ(workload.tensors[1].forward_ns, 0);
  EXPECT_EQ(workload.tensors[2].forward_ns, 3);
  EXPECT_EQ(workload.tensors[2].backward_ns, 30);
}

TEST(CaseSet, TheAllReduceIsWantedAndWhatStrategiesSendWith) {
  const Workload workload = three_layers();
  EXPECT_THAT(
      collectives_of({{"dear", {}}}, {{"none", {}}}, workload),
      ElementsAre(Collective::kAllReduce, Collective::kReduceScatter, Collective::kAllGather));
  EXPECT_THAT(collectives_of({{"wfbp", {}}, {"single", {}}}, {{"none", {}}}, workload),
              ElementsAre(Collective::kAllReduce));
}

TEST(CaseSet, StrategiesThatSearchAskTheSearcherAndOthersDoNot) {
  CaseSet set;
  set.ranks = 2;
  CollectiveCost cost;
  cost.isolated = CostModel(LinearCost{10, 1});
  set.profile = make_profile(three_layers(), 2, {cost, {}, {}});
  std::vector<std::string> asked;
  plan_strategies(set, {{"single", {}}, {"mergecomp", {}}},
                  [&](const Strategy& strategy, const Options&, const TimeModel&) {
                    asked.push_back(strategy.id());
                    return Searched{plan_from_ends(strategy.id(), {1, 3}), {{{1, 3}, 5.0}}, true};
                  });
  EXPECT_THAT(asked, ElementsAre("mergecomp"));
  EXPECT_THAT(set.strategies[1].planned.plan.ends(), ElementsAre(1, 3));
  EXPECT_EQ(set.strategies[1].probes.size(), 1U);
  EXPECT_TRUE(set.strategies[1].cut_short);
  EXPECT_GT(set.strategies[1].planned.timeline.iteration_ns, 0);
  EXPECT_TRUE(set.strategies[0].probes.empty());
}

TEST(CaseSet, ASearchThatSawAWrongSumFailsItsStrategyOnly) {
  CaseSet set;
  set.ranks = 2;
  CollectiveCost cost;
  cost.isolated = CostModel(LinearCost{10, 1});
  set.profile = make_profile(three_layers(), 2, {cost, {}, {}});
  plan_strategies(set, {{"single", {}}, {"mergecomp", {}}},
                  [](const Strategy& strategy, const Options&, const TimeModel&) {
                    return Searched{plan_from_ends(strategy.id(), {3}), {}, false, "wrong sums"};
                  });
  const std::vector<Contestant> contestants = contestants_of(set);
  EXPECT_EQ(contestants[0].failure, "");
  EXPECT_EQ(contestants[1].failure, "wrong sums");
}

}  // namespace
}  // namespace mergewise
