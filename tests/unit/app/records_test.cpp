// SPDX-License-Identifier: Apache-2.0
#include "bench/app/records.hpp"

#include "bench/app/ranking.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mergewise {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// Two tensors, two strategies, a = 1 ms a collective.
CaseSet two_strategies() {
  Workload workload;
  workload.name = "pair";
  workload.forward_ns = 1e6;
  workload.tensors = {{"a", "", {}, 400, 0, 1e6}, {"b", "", {}, 400, 0, 1e6}};
  CollectiveCost cost;
  cost.back_to_back = CostModel(LinearCost{1e6, 0});
  CaseSet set;
  set.workload = "pair";
  set.ranks = 2;
  set.profile = make_profile(workload, 2, {cost, {}, {}});
  plan_strategies(set, {{"wfbp", {}}, {"single", {}}});
  return set;
}

ContestResult measured(const CaseSet& set, Nanoseconds iteration, std::size_t samples = 20) {
  ContestResult contest;
  contest.compute_alone_ns = {3e6, 3e6};
  for (std::size_t i = 0; i < set.strategies.size(); ++i) {
    ContestantResult one;
    one.verified = true;
    one.samples_ns.assign(samples, iteration);
    one.warmup_ns = {iteration};
    one.stopped = "max";
    Breakdown breakdown;
    breakdown.labels_ns = {{"compute", 3.5e6}};
    one.breakdown = breakdown;
    one.spans = {{0, Lane::kCompute, "forward", 0, 0, 1}, {1, Lane::kCompute, "forward", 0, 0, 1}};
    contest.contestants.push_back(one);
  }
  return contest;
}

TEST(Records, APlanAndItsPredictionStandInTheRecord) {
  const CaseSet set = two_strategies();
  const auto records = make_records(set, measured(set, 4e6), 5, 1);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].strategy, "wfbp");
  EXPECT_EQ(records[0].plan.ends(), (std::vector<std::size_t>{1, 2}));
  EXPECT_DOUBLE_EQ(*records[0].predicted_ns, 4e6);  // 3 ms of compute, then the second collective
  EXPECT_DOUBLE_EQ(*records[1].predicted_ns, 4e6);
  EXPECT_DOUBLE_EQ(*records[0].optimal_ns, 4e6);
  EXPECT_EQ(records[0].status, CaseStatus::kOk);
  EXPECT_DOUBLE_EQ(*records[0].compute_alone_ns, 3e6);
}

TEST(Records, ARecordSaysWhetherItsStrategyMayBeatTheOptimum) {
  CaseSet set = two_strategies();
  set.strategies[1].strategy = "dear";
  const auto records = make_records(set, measured(set, 4e6), 5, 1);
  EXPECT_TRUE(records[0].within_optimal);
  EXPECT_FALSE(records[1].within_optimal);
}

TEST(Records, TaxShowsOnlyWithRealWork) {
  CaseSet set = two_strategies();
  EXPECT_FALSE(make_records(set, measured(set, 4e6), 5, 1)[0].tax_ns.has_value());
  set.timed = false;
  EXPECT_DOUBLE_EQ(*make_records(set, measured(set, 4e6), 5, 1)[0].tax_ns, 0.5e6);
}

TEST(Records, AFailedVerificationHasItsReasonAndNoSummary) {
  const CaseSet set = two_strategies();
  ContestResult contest = measured(set, 4e6);
  contest.contestants[1] = ContestantResult{};
  contest.contestants[1].failure = "element 3 is wrong";
  const auto record = make_records(set, contest, 5, 1)[1];
  EXPECT_EQ(record.status, CaseStatus::kFailed);
  EXPECT_EQ(record.reason, "element 3 is wrong");
  EXPECT_FALSE(record.summary.has_value());
}

TEST(Records, AnInterruptedContestIsPartialAndKeepsItsSamples) {
  const CaseSet set = two_strategies();
  ContestResult contest = measured(set, 4e6);
  contest.interrupted = true;
  const auto record = make_records(set, contest, 5, 1)[0];
  EXPECT_EQ(record.status, CaseStatus::kPartial);
  EXPECT_EQ(record.samples_ns.size(), 20U);
}

TEST(Records, MachineBoundNeedsALinkAndMoreThanFivePercent) {
  CaseSet set = two_strategies();
  EXPECT_THAT(make_records(set, measured(set, 6e6), 5, 1)[0].flags, Not(Contains("machine_bound")));
  set.link = LinkModel{1000, 1};
  EXPECT_THAT(make_records(set, measured(set, 6e6), 5, 1)[0].flags, Contains("machine_bound"));
  EXPECT_THAT(make_records(set, measured(set, 4.1e6), 5, 1)[0].flags,
              Not(Contains("machine_bound")));
}

TEST(Records, FewSamplesAndAnUnsettledWarmUpAreFlagged) {
  const CaseSet set = two_strategies();
  ContestResult contest = measured(set, 4e6, 9);
  contest.contestants[0].unstable = true;
  const auto flags = make_records(set, contest, 5, 1)[0].flags;
  EXPECT_THAT(flags, Contains("few_samples"));
  EXPECT_THAT(flags, Contains("unstable"));
  EXPECT_THAT(make_records(set, measured(set, 4e6), 5, 1)[0].flags, testing::IsEmpty());
}

TEST(Records, TheResultKeepsRank0sSpansAndTheTraceAllRanks) {
  const CaseSet set = two_strategies();
  const ContestResult contest = measured(set, 4e6);
  EXPECT_EQ(make_records(set, contest, 5, 1)[0].spans.size(), 1U);
  ASSERT_EQ(make_traces(set, contest).size(), 2U);
  EXPECT_EQ(make_traces(set, contest)[0].spans.size(), 2U);
}

TEST(Records, OneRankPredictsWithoutCommunication) {
  Workload workload;
  workload.forward_ns = 1e6;
  workload.tensors = {{"a", "", {}, 400, 0, 1e6}};
  CaseSet set;
  set.profile = make_profile(workload, 1, {});
  plan_strategies(set, {{"single", {}}});
  EXPECT_DOUBLE_EQ(set.strategies[0].planned.timeline.iteration_ns, 2e6);
}

TEST(Ranking, FastestFirstAndCasesWithoutTimingLastWithTheirReason) {
  const CaseSet set = two_strategies();
  ContestResult contest = measured(set, 4e6);
  contest.contestants[0] = ContestantResult{};
  contest.contestants[0].failure = "element 3 is wrong";
  const std::string text = ranking(make_records(set, contest, 5, 1));
  EXPECT_LT(text.find("single"), text.find("wfbp"));
  EXPECT_THAT(text, HasSubstr("failed: element 3 is wrong"));
  EXPECT_THAT(text, HasSubstr("4.0 [4.0, 4.0]"));
}

}  // namespace
}  // namespace mergewise
