// SPDX-License-Identifier: Apache-2.0
#include "bench/app/simulation.hpp"

#include "bench/app/simulation_tables.hpp"
#include "bench/core/error.hpp"
#include "bench/plan/time_model.hpp"
#include "bench/plan/timeline.hpp"
#include "bench/strategies/registry.hpp"
#include "tests/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace mergewise {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

SimulatedWorkload workload(std::size_t tensors = 3) {
  SimulatedWorkload workload;
  workload.profile.name = "small";
  workload.profile.forward_ns = 1000;
  for (std::size_t i = 0; i < tensors; ++i) {
    workload.profile.tensors.push_back(
        {"t" + std::to_string(i), 4000, 500, std::nullopt, "layer" + std::to_string(i), {}});
  }
  workload.batch = 8;
  workload.accelerator = "v100";
  return workload;
}

// One GPU a node: 100 ns a message, 8 Gbit/s.
Cluster links(std::string name = "links") {
  Cluster cluster;
  cluster.name = std::move(name);
  cluster.network = {100, 1, 0};
  return cluster;
}

Cluster lines() {
  Cluster cluster;
  cluster.name = "lines";
  cluster.all_reduce = {{4, LinearCost{1000, 0.5}}};
  return cluster;
}

Simulation simulation(std::vector<std::string> strategies = {"wfbp", "single", "optimal"}) {
  Simulation simulation;
  simulation.name = "demo";
  simulation.config = {{"name", "demo"}};
  simulation.workloads = {workload()};
  simulation.networks = {{links(), 8}};
  simulation.ranks = {2, 4};
  for (const std::string& strategy : strategies) simulation.strategies.push_back({strategy, {}});
  return simulation;
}

// 70 bandwidths more: beyond what is kept in full.
Simulation large() {
  Simulation large = simulation();
  for (int i = 1; i <= 70; ++i) {
    large.networks.push_back({with_bandwidth(links(), i + 0.5), i + 0.5});
  }
  return large;
}

TEST(Simulation, TimesAreThoseOfTheTimeModelOnTheClustersCosts) {
  const Result result = simulate(simulation(), 1);
  ASSERT_THAT(result.cases, SizeIs(6));
  Profile profile = workload().profile;
  profile.all_reduce = costs_of(links(), 4).all_reduce;
  const TimeModel model(profile);
  const CaseRecord& single = result.cases[4];
  EXPECT_EQ(single.strategy, "single");
  EXPECT_EQ(single.ranks, 4);
  EXPECT_EQ(single.predicted_ns,
            predict_iteration(model, make_strategy("single")->plan(model, {})));
  EXPECT_EQ(single.optimal_ns, result.cases[5].predicted_ns);
}

TEST(Simulation, ACaseSaysWhatWasSimulatedAndThatNothingRan) {
  const Result result = simulate(simulation(), 1);
  EXPECT_TRUE(result.simulated);
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(result.started, "");
  EXPECT_EQ(result.config["name"], "demo");
  const CaseRecord& record = result.cases[0];
  EXPECT_EQ(record.workload, "small");
  EXPECT_EQ(record.batch, 8);
  EXPECT_EQ(record.accelerator, "v100");
  EXPECT_EQ(record.cluster, "links");
  EXPECT_EQ(record.gbps, 8);
  EXPECT_EQ(record.status, CaseStatus::kOk);
  EXPECT_FALSE(record.verified);
  EXPECT_THAT(record.samples_ns, IsEmpty());
  EXPECT_EQ(record.compute_alone_ns, 1000 + 3 * 500);
  EXPECT_THAT(simulated_ranking(result.cases), HasSubstr("Simulated"));
}

TEST(Simulation, ACaseSaysWhetherItsStrategyMayBeatTheOptimum) {
  const Result result = simulate(simulation({"wfbp", "bytescheduler"}), 1);
  EXPECT_TRUE(result.cases[0].within_optimal);
  EXPECT_FALSE(result.cases[1].within_optimal);
}

TEST(Simulation, TheStrategiesAreInnermostThenRanksNetworksCompressorsWorkloads) {
  Simulation several = simulation({"wfbp", "single"});
  several.networks.push_back({links("more"), 8});
  std::vector<std::string> order;
  for (const CaseRecord& record : simulate(several, 2).cases) {
    order.push_back(record.cluster + " " + std::to_string(record.ranks) + " " + record.strategy);
  }
  EXPECT_THAT(order, ElementsAre("links 2 wfbp", "links 2 single", "links 4 wfbp", "links 4 single",
                                 "more 2 wfbp", "more 2 single", "more 4 wfbp", "more 4 single"));
}

TEST(Simulation, IsTheSameForAnyNumberOfThreads) {
  const std::string alone = to_json(simulate(large(), 1)).dump();
  EXPECT_EQ(to_json(simulate(large(), 4)).dump(), alone);
  EXPECT_EQ(to_json(simulate(large(), 1)).dump(), alone);
}

TEST(Simulation, SaysNothingOfTheMachine) {
  const nlohmann::json environment = simulate(simulation(), 1).environment;
  EXPECT_TRUE(environment.contains("mergewise"));
  EXPECT_EQ(environment.size(), 1U);
}

TEST(Simulation, FewCasesKeepPlanSpansAndTheProfileTheyWerePlannedFrom) {
  const Result result = simulate(simulation(), 1);
  EXPECT_THAT(result.profiles, SizeIs(2));  // one for each number of ranks
  for (const CaseRecord& record : result.cases) {
    ASSERT_TRUE(result.profiles.contains(record.profile));
    EXPECT_EQ(result.profiles.at(record.profile).ranks, record.ranks);
    EXPECT_TRUE(result.profiles.at(record.profile).all_reduce.has_value());
    EXPECT_THAT(record.plan.groups, Not(IsEmpty()));
    EXPECT_THAT(record.predicted.spans, Not(IsEmpty()));
    EXPECT_THAT(record.plan_hash, SizeIs(16));
  }
}

TEST(Simulation, ManyCasesKeepTheTimesAlone) {
  const Result result = simulate(large(), 2);
  ASSERT_GT(result.cases.size(), kMostFullCases);
  EXPECT_THAT(result.profiles, SizeIs(1));
  for (const CaseRecord& record : result.cases) {
    EXPECT_THAT(record.plan.groups, IsEmpty());
    EXPECT_THAT(record.predicted.spans, IsEmpty());
    EXPECT_TRUE(record.predicted_ns.has_value());
  }
  const nlohmann::json json = to_json(result)["cases"][0];
  EXPECT_TRUE(json["plan"].is_null());
  EXPECT_EQ(json["workload"]["forward_ns"], 1000);
  EXPECT_EQ(json["workload"]["bytes"], 12000);
  // The times are those of the full result.
  EXPECT_EQ(result.cases[0].predicted_ns, simulate(simulation(), 1).cases[0].predicted_ns);
}

TEST(Simulation, FewCasesOfVeryManyTensorsKeepTheTimesAlone) {
  Simulation few = simulation({"single", "wfbp"});
  few.workloads = {workload(kMostFullTensors / 4)};
  for (const CaseRecord& record : simulate(few, 2).cases) {
    EXPECT_THAT(record.plan.groups, Not(IsEmpty()));
  }
  few.workloads = {workload(kMostFullTensors / 4 + 1)};
  const Result result = simulate(few, 2);
  EXPECT_THAT(result.profiles, SizeIs(1));
  for (const CaseRecord& record : result.cases) {
    EXPECT_THAT(record.plan.groups, IsEmpty());
    EXPECT_THAT(record.predicted.spans, IsEmpty());
    EXPECT_TRUE(record.predicted_ns.has_value());
  }
}

TEST(Simulation, WhatANetworkHasNoCostsForIsSkippedWithTheReason) {
  Simulation published = simulation({"wfbp", "optimal"});
  published.networks = {{lines(), 0}};
  const Result result = simulate(published, 1);
  EXPECT_EQ(result.cases[0].status, CaseStatus::kSkipped);
  EXPECT_THAT(result.cases[0].reason, HasSubstr("no published costs between 2 GPUs"));
  EXPECT_FALSE(result.cases[0].predicted_ns.has_value());
  EXPECT_EQ(result.cases[2].status, CaseStatus::kOk);
  EXPECT_EQ(result.cases[2].gbps, 0);
  EXPECT_THAT(simulated_ranking(result.cases), HasSubstr("skipped: cluster 'lines'"));
}

TEST(Simulation, WhatAStrategyCannotDoIsSkippedWithTheReason) {
  Simulation compressed = simulation({"wfbp", "optimal", "dear"});
  compressed.networks = {{lines(), 0}};
  compressed.ranks = {4};
  const Result dense = simulate(compressed, 1);
  EXPECT_EQ(dense.cases[0].status, CaseStatus::kOk);
  EXPECT_EQ(dense.cases[2].status, CaseStatus::kSkipped);
  EXPECT_THAT(
      dense.cases[2].reason,
      HasSubstr("cluster 'lines' has no published cost of 'reduce_scatter' between 4 GPUs"));
  EXPECT_THAT(dense.cases[2].reason, HasSubstr("add `reduce_scatter: [{ranks: 4,"));

  compressed.compressors = {{"topk", {}}};
  compressed.workloads[0].profile.compressors["topk"] = {LinearCost{10, 0.1}, LinearCost{5, 0.1}};
  const Result sparse = simulate(compressed, 1);
  EXPECT_THAT(sparse.cases, Each(Field(&CaseRecord::status, CaseStatus::kSkipped)));
  EXPECT_THAT(sparse.cases[0].reason, HasSubstr("all_gather"));
  EXPECT_THAT(sparse.cases[1].reason, HasSubstr("all_gather"));
}

TEST(Simulation, TheOptimumIsNotSearchedForWhereItIsTooExpensive) {
  Simulation huge = simulation({"wfbp", "optimal"});
  huge.workloads = {workload(5001)};
  huge.ranks = {6};  // no power of two: the best of two algorithms, no line
  const Result result = simulate(huge, 1);
  EXPECT_EQ(result.cases[0].status, CaseStatus::kOk);
  EXPECT_FALSE(result.cases[0].optimal_ns.has_value());
  EXPECT_EQ(result.cases[1].status, CaseStatus::kSkipped);
  EXPECT_THAT(result.cases[1].reason, HasSubstr("5,000 tensors"));
}

TEST(Simulation, CompressorsAreToldApartByTheirOptions) {
  Simulation sparse = simulation({"wfbp"});
  sparse.ranks = {4};
  sparse.compressors = {{"topk", {}}, {"topk", Options({{"density", 0.5}})}};
  sparse.workloads[0].profile.compressors["topk"] = {LinearCost{10, 0.1}, LinearCost{5, 0.1}};
  const Result result = simulate(sparse, 1);
  EXPECT_EQ(result.cases[0].compressor, "topk");
  EXPECT_EQ(result.cases[1].compressor, "topk density=0.5");
  EXPECT_EQ(result.profiles.at(result.cases[1].profile).density, 0.5);
  EXPECT_LT(*result.cases[0].predicted_ns, *result.cases[1].predicted_ns);
}

TEST(Simulation, WithoutNetworksAProfilesOwnCostsCount) {
  Simulation own = simulation({"single"});
  own.networks.clear();
  own.ranks.clear();
  own.workloads[0].profile.ranks = 16;
  own.workloads[0].profile.all_reduce.emplace();
  own.workloads[0].profile.all_reduce->isolated = LinearCost{1e6, 0};
  const Result result = simulate(own, 1);
  ASSERT_THAT(result.cases, SizeIs(1));
  EXPECT_EQ(result.cases[0].ranks, 16);
  EXPECT_EQ(result.cases[0].cluster, "");
  EXPECT_EQ(result.cases[0].predicted_ns, 1000 + 3 * 500 + 1e6);
}

TEST(Simulation, MicroBatchesComputeWithoutCommunication) {
  Simulation accumulating = simulation({"single"});
  const Nanoseconds once = *simulate(accumulating, 1).cases[0].predicted_ns;
  accumulating.workloads[0].profile.accumulation = 3;
  const CaseRecord thrice = simulate(accumulating, 1).cases[0];
  EXPECT_EQ(thrice.compute_alone_ns, 3 * 2500);
  EXPECT_DOUBLE_EQ(*thrice.predicted_ns, once + 2 * 2500);
}

TEST(Simulation, AWorkloadThatCannotBePlannedIsAnError) {
  Simulation wrong = large();
  wrong.workloads.push_back(workload());
  wrong.workloads[1].profile.name = "wrong";
  wrong.workloads[1].profile.tensors[0].forward_ns = 2000;  // more than the whole pass
  for (const int threads : {1, 4}) {
    try {
      (void)simulate(wrong, threads);
      FAIL();
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("'wrong'"));
    }
  }
}

TEST(SimulationTables, TheSummaryCountsWhoIsFastestAndWhereMergingLoses) {
  const std::string text = simulated_summary(simulate(large(), 1).cases);
  EXPECT_THAT(text, HasSubstr("nothing was run"));
  EXPECT_THAT(text, HasSubstr("426 cases, 3 strategies on 142 sets"));
  EXPECT_THAT(text, ::testing::ContainsRegex("optimal +142 of 142 +\\+0.0 % +\\+0.0 % +0 of 142"));
}

TEST(SimulationTables, TimesThatDifferByLessThanOnePerCentAreEqualAsInReports) {
  std::vector<CaseRecord> cases = simulate(simulation({"wfbp", "single", "ddp"}), 1).cases;
  cases.resize(3);
  const std::vector<Nanoseconds> times{1009e6, 1000e6, 1011e6};
  for (std::size_t i = 0; i < times.size(); ++i) cases[i].predicted_ns = times[i];
  const std::string text = simulated_summary(cases);
  EXPECT_THAT(text, HasSubstr("differ by less than 1 % count as equal"));
  EXPECT_THAT(text, ::testing::ContainsRegex("wfbp +1 of 1 +\\+0.9 %"));
  EXPECT_THAT(text, ::testing::ContainsRegex("single +1 of 1 +\\+0.0 %"));
  EXPECT_THAT(text, ::testing::ContainsRegex("ddp +0 of 1 +\\+1.1 % +\\+1.1 % +0 of 1 +1 of 1"));
}

}  // namespace
}  // namespace mergewise
