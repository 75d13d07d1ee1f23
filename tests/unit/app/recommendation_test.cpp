// SPDX-License-Identifier: Apache-2.0
#include "bench/app/recommendation.hpp"

#include "bench/app/case_set.hpp"
#include "bench/app/records.hpp"
#include "bench/app/run_session.hpp"
#include "bench/stats/random.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace mergewise {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::size_t kBlock = 5;
const RecommendationFiles kFiles{"out/plan.json", "out/profile.json", "out/result.json"};

// 40 samples around a median, spread over +- `spread` of it.
CaseRecord measured(const std::string& strategy, Nanoseconds median, double spread = 0.002,
                    std::vector<std::size_t> ends = {1, 2, 3}) {
  CaseRecord record;
  record.strategy = strategy;
  record.status = CaseStatus::kOk;
  record.plan = plan_from_ends(strategy, ends);
  SplitMix64 random(ends.size());
  for (int i = 0; i < 20; ++i) {
    const double off = spread * static_cast<double>(random.below(1001)) / 1000;
    record.samples_ns.insert(record.samples_ns.end(), {median * (1 - off), median * (1 + off)});
  }
  record.summary = summarize(record.samples_ns, kBlock, 1);
  record.predicted_ns = median;
  return record;
}

CaseRecord failed(const std::string& strategy) {
  CaseRecord record;
  record.strategy = strategy;
  record.status = CaseStatus::kFailed;
  record.reason = "element 3 is wrong";
  record.plan = plan_from_ends(strategy, {3});
  return record;
}

Recommendation of(const std::vector<CaseRecord>& cases) {
  return recommend(cases, kBlock, 1, false);
}

TEST(Recommendation, MergesWhereThatSavesMoreThanNoise) {
  const auto found =
      of({measured("wfbp", 100e6), measured("ddp", 92e6, 0.002, {1, 3}), measured("single", 95e6)});
  EXPECT_EQ(found.verdict, Verdict::kMerge);
  EXPECT_NEAR(found.saved->part, 0.08, 0.001);
  EXPECT_LT(found.saved->interval.low, 0.08);
  EXPECT_GT(found.saved->interval.high, 0.08);
  EXPECT_EQ(found.measured[0].strategy, "ddp");
  EXPECT_THAT(recommendation_text(found, kFiles),
              AllOf(HasSubstr("merge as ddp: 2 groups, saves 8.0 % (7."),
                    HasSubstr("(92.0 ms instead of 100.0 ms)"), HasSubstr("Runner-up: single"),
                    HasSubstr("it can be told apart"), HasSubstr("out/plan.json"),
                    HasSubstr("--strategy ddp --export horovod")));
}

TEST(Recommendation, DoesNotMergeWhereThatLoses) {
  const auto found = of({measured("wfbp", 100e6), measured("single", 112e6, 0.002, {3})});
  EXPECT_EQ(found.verdict, Verdict::kDoNotMerge);
  EXPECT_NEAR(found.saved->part, -0.12, 0.001);
  EXPECT_THAT(recommendation_text(found, kFiles),
              AllOf(HasSubstr("do not merge: sending every tensor alone is the fastest; merging as "
                              "single (one group) loses 12.0 % (11."),
                    HasSubstr("switch merging off")));
}

TEST(Recommendation, SaysThatADifferenceWithinNoiseIsNone) {
  for (const double merged : {97e6, 103e6}) {
    const auto found = of({measured("wfbp", 100e6, 0.2), measured("ddp", merged, 0.2, {1, 3})});
    EXPECT_EQ(found.verdict, Verdict::kNoDifference) << merged;
    EXPECT_FALSE(found.saved->distinguishable());
    EXPECT_THAT(recommendation_text(found, kFiles),
                AllOf(HasSubstr("it makes no difference: merging as ddp"),
                      HasSubstr("cannot be told from nothing"), HasSubstr("keep what you have")));
  }
}

TEST(Recommendation, SaysThatLessThanOnePercentIsNoDifferenceHoweverSure) {
  for (const double merged : {99.2e6, 100.8e6}) {
    const auto found =
        of({measured("wfbp", 100e6, 0.0001), measured("ddp", merged, 0.0001, {1, 3})});
    EXPECT_EQ(found.verdict, Verdict::kNoDifference) << merged;
    EXPECT_TRUE(found.saved->distinguishable());
    EXPECT_THAT(recommendation_text(found, kFiles), HasSubstr("which is below 1 %"));
  }
}

TEST(Recommendation, OfATieTheFirstStrategyWins) {
  const auto even = of({measured("wfbp", 90e6), measured("ddp", 90e6), measured("single", 90e6)});
  EXPECT_EQ(even.verdict, Verdict::kNoDifference);
  EXPECT_EQ(even.measured[0].strategy, "wfbp");
  const auto merged =
      of({measured("wfbp", 100e6), measured("ddp", 90e6), measured("optimal", 90e6)});
  EXPECT_EQ(merged.measured[0].strategy, "ddp");
  EXPECT_FALSE(merged.runner_up_slower->distinguishable());
  EXPECT_THAT(recommendation_text(merged, kFiles), HasSubstr("the two cannot be told apart"));
}

TEST(Recommendation, MakesNoDifferenceWhereAllPlansAreTheSame) {
  CaseRecord other = failed("single");
  other.status = CaseStatus::kSkipped;
  const auto found = of({measured("wfbp", 100e6), other});
  EXPECT_EQ(found.verdict, Verdict::kNoDifference);
  EXPECT_THAT(recommendation_text(found, kFiles), HasSubstr("every strategy makes the same plan"));
}

TEST(Recommendation, HasNoVerdictWithoutBothSides) {
  EXPECT_EQ(of({failed("wfbp"), measured("ddp", 90e6), measured("single", 95e6)}).verdict,
            Verdict::kUnknown);
  EXPECT_EQ(of({}).verdict, Verdict::kUnknown);
  const auto found = of({measured("wfbp", 90e6), failed("ddp")});
  EXPECT_EQ(found.verdict, Verdict::kUnknown);
  EXPECT_THAT(recommendation_text(found, kFiles),
              AllOf(HasSubstr("no verdict"), HasSubstr("ddp: failed: element 3 is wrong")));
}

TEST(Recommendation, IsTheSameForTheSameSeed) {
  const std::vector<CaseRecord> cases{measured("wfbp", 100e6, 0.01),
                                      measured("ddp", 92e6, 0.01, {1, 3})};
  EXPECT_EQ(recommend(cases, kBlock, 7, false).saved->interval.low,
            recommend(cases, kBlock, 7, false).saved->interval.low);
  EXPECT_NE(recommend(cases, kBlock, 7, false).saved->interval.low,
            recommend(cases, kBlock, 8, false).saved->interval.low);
}

TEST(Recommendation, SaysHowFarThePredictionsWereOff) {
  CaseRecord best = measured("ddp", 90e6);
  best.predicted_ns = 81e6;
  CaseRecord alone = measured("wfbp", 100e6);
  alone.predicted_ns = 125e6;
  EXPECT_THAT(recommendation_text(of({alone, best}), kFiles),
              HasSubstr("81.0 ms for ddp (-10.0 %); off by at most 25.0 % over the 2 plans"));
}

TEST(Recommendation, IsNotToBeTrustedForAClusterWithFlags) {
  CaseRecord alone = measured("wfbp", 100e6);
  EXPECT_THAT(recommendation_text(of({alone, measured("ddp", 90e6)}), kFiles),
              Not(HasSubstr("Not to be trusted")));
  for (const std::string flag : {"oversubscribed", "link_emulated", "few_samples"}) {
    alone.flags = {flag};
    const auto found = of({alone, measured("ddp", 90e6)});
    EXPECT_THAT(found.flags, ElementsAre(flag));
    EXPECT_THAT(recommendation_text(found, kFiles),
                AllOf(HasSubstr("Not to be trusted for a cluster"), HasSubstr(flag)));
  }
  const auto local = recommend({alone, measured("ddp", 90e6)}, kBlock, 1, true);
  EXPECT_THAT(local.flags, Contains("one_host"));
}

TEST(Recommendation, NamesThePlanToApplyWhereTheFastestIsTooMuchForFrameworks) {
  CaseRecord both = measured("dear", 80e6, 0.002, {3});
  both.plan.groups[0].collective = Collective::kReduceScatter;
  both.plan.groups.push_back({0, 3, Collective::kAllGather, BeforeForward{}});
  EXPECT_FALSE(is_plain(both.plan));
  const auto found = of({measured("wfbp", 100e6), both, measured("optimal", 85e6)});
  EXPECT_THAT(recommendation_text(found, kFiles),
              AllOf(HasSubstr("merge as dear: one group"), HasSubstr("dear does more"),
                    HasSubstr("that of optimal (85.0 ms)"), Not(HasSubstr("--export horovod"))));
}

TEST(Recommendation, IsTheSameAsJson) {
  const auto found = of({measured("wfbp", 100e6), measured("ddp", 92e6, 0.002, {1, 3})});
  const auto json = recommendation_json(found, kFiles);
  EXPECT_EQ(json["schema"], "mergewise/recommendation/1");
  EXPECT_EQ(json["verdict"], "merge");
  EXPECT_EQ(json["fastest"], "ddp");
  EXPECT_EQ(json["runner_up"], "wfbp");
  EXPECT_NEAR(json["saved"]["part"].get<double>(), 0.08, 0.001);
  EXPECT_EQ(json["plans"][0]["groups"], 2);
  EXPECT_EQ(json["trust_for_a_cluster"], true);
  const auto nothing = recommendation_json(of({}), kFiles);
  EXPECT_EQ(nothing["verdict"], "unknown");
  EXPECT_TRUE(nothing["saved"].is_null());
  EXPECT_TRUE(nothing["plan"].is_null());
}

// A start-up that only merging avoids, and four small tensors.
CaseSet planned(Nanoseconds start_up, const std::vector<ChoiceConfig>& strategies) {
  Workload workload;
  workload.name = "four";
  workload.forward_ns = 1e6;
  for (const char* name : {"a", "b", "c", "d"}) {
    workload.tensors.push_back({name, "", {}, 400, 0, 1e6});
  }
  CollectiveCost cost;
  cost.back_to_back = CostModel(LinearCost{start_up, 0});
  CaseSet set;
  set.workload = "four";
  set.ranks = 2;
  set.profile = make_profile(workload, 2, {cost, {}, {}});
  plan_strategies(set, strategies);
  return set;
}

std::vector<std::string> names_of(const std::vector<PlannedStrategy>& strategies) {
  std::vector<std::string> names;
  for (const PlannedStrategy& strategy : strategies) names.push_back(strategy.strategy);
  return names;
}

TEST(KeepBest, KeepsTheBestDistinctPlansAndSendingAlone) {
  // single, ddp and mg_wfbp make one group; wfbp is the worst and stays.
  CaseSet set = planned(3e6, {{"wfbp", {}}, {"single", {}}, {"ddp", {}}, {"optimal", {}}});
  keep_best(set, 1);
  ASSERT_EQ(set.strategies.size(), 2U);
  EXPECT_EQ(set.strategies[0].strategy, "wfbp");
  EXPECT_EQ(set.strategies.size() + set.left_out.size(), 4U);
}

TEST(KeepBest, OfOnePlanTheSimplerStrategyCounts) {
  CaseSet set = planned(3e6, {{"wfbp", {}}, {"single", {}}, {"ddp", {}}});
  keep_best(set, 3);
  EXPECT_THAT(names_of(set.strategies), ElementsAre("wfbp", "single"));
  ASSERT_EQ(set.left_out.size(), 1U);
  EXPECT_THAT(set.left_out[0].reason,
              AllOf(HasSubstr("the same plan as single"), HasSubstr("predicted 8.0 ms")));
}

TEST(KeepBest, WhatIsLeftOutIsRecordedAsSkippedAndFailsNothing) {
  CaseSet set = planned(3e6, {{"wfbp", {}}, {"single", {}}, {"optimal", {}}});
  keep_best(set, 1);
  ContestResult contest;
  contest.contestants.resize(set.strategies.size());
  for (ContestantResult& one : contest.contestants) {
    one.verified = true;
    one.samples_ns.assign(20, 8e6);
    one.stopped = "max";
  }
  const auto records = make_records(set, contest, kBlock, 1);
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[2].status, CaseStatus::kSkipped);
  EXPECT_THAT(records[2].reason,
              AllOf(HasSubstr("not among the best 1 in the model"), HasSubstr("predicted ")));
  EXPECT_TRUE(records[2].predicted_ns.has_value());
  EXPECT_TRUE(records[2].samples_ns.empty());
  EXPECT_EQ(exit_code_of(records), ExitCode::kOk);
  auto unfinished = records;
  unfinished[0].status = CaseStatus::kPartial;
  EXPECT_EQ(exit_code_of(unfinished), ExitCode::kRunFailed);
}

}  // namespace
}  // namespace mergewise
