// SPDX-License-Identifier: Apache-2.0
// Sets whose gradients are compressed: planned, hashed, recorded.
#include "bench/app/case_set.hpp"
#include "bench/app/records.hpp"
#include "bench/core/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace mergewise {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

Workload pair() {
  Workload workload;
  workload.name = "pair";
  workload.forward_ns = 1e6;
  workload.tensors = {{"a", "", {}, 4000, 0, 1e6}, {"b", "", {}, 400, 0, 1e6}};
  return workload;
}

CollectiveCosts costs() {
  CollectiveCost cost;
  cost.back_to_back = CostModel(LinearCost{1e5, 1});
  return {cost, cost, cost};
}

CaseSet compressed_set(const ChoiceConfig& compressor, std::uint64_t seed = 1) {
  CaseSet set;
  set.workload = "pair";
  set.ranks = 4;
  set.profile = make_profile(pair(), 4, costs());
  compress_set(set, compressor, {LinearCost{1000, 0}, LinearCost{100, 0}}, seed);
  return set;
}

const ChoiceConfig kTopk{"topk", Options({{"density", 0.1}})};

ContestResult unmeasured(const CaseSet& set) {
  ContestResult contest;
  contest.contestants.resize(set.strategies.size());
  return contest;
}

TEST(CompressedSet, StrategiesPlanWithTheCompressor) {
  CaseSet set = compressed_set(kTopk);
  plan_strategies(set, {{"wfbp", {}}, {"single", {}}});
  ASSERT_EQ(set.strategies.size(), 2U);
  EXPECT_EQ(set.strategies[1].planned.plan.groups[0].collective, Collective::kAllGather);
  // 3 ms of compute, compressed in 1 us, 8 * 110 bytes at 1 ns behind 100 us, decompressed.
  EXPECT_DOUBLE_EQ(set.strategies[1].planned.timeline.iteration_ns, 3e6 + 1000 + 1e5 + 880 + 100);
}

TEST(CompressedSet, AStrategyThatSendsDenseGradientsOnlyIsLeftOutWithTheReason) {
  CaseSet set = compressed_set(kTopk);
  plan_strategies(set, {{"dear", {}}, {"single", {}}});
  ASSERT_EQ(set.strategies.size(), 1U);
  ASSERT_EQ(set.left_out.size(), 1U);
  EXPECT_THAT(set.left_out[0].reason, HasSubstr("sends dense gradients only"));
  const auto records = make_records(set, unmeasured(set), 1, 1);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[1].strategy, "dear");
  EXPECT_EQ(records[1].status, CaseStatus::kSkipped);
  EXPECT_FALSE(records[1].predicted_ns.has_value());
  EXPECT_FALSE(records[1].compression.has_value());
}

TEST(CompressedSet, ACostThatIsMissingIsAnErrorStill) {
  CaseSet set = compressed_set(kTopk);
  set.profile.all_gather.reset();
  EXPECT_THAT(
      [&] {
        plan_strategies(set, {{"single", {}}});
      },
      ::testing::ThrowsMessage<UnsupportedError>(HasSubstr("all_gather")));
}

TEST(CompressedSet, RanksCompareOptionsAndSeeds) {
  const MergePlan plan = plan_from_ends("single", {2}, Collective::kAllGather);
  const auto hash = [&](const ChoiceConfig& compressor, std::uint64_t seed) {
    return hash_of(compressed_set(compressor, seed), plan);
  };
  EXPECT_EQ(hash(kTopk, 1), hash(kTopk, 1));
  EXPECT_NE(hash(kTopk, 1), hash({"topk", {}}, 1));
  EXPECT_NE(hash(kTopk, 1), hash(kTopk, 2));
  EXPECT_EQ(hash({"none", {}}, 1), hash({"none", {}}, 2)) << "nothing is drawn";
}

TEST(CompressedSet, TheRecordSaysWhatGoesOverTheWire) {
  CaseSet set = compressed_set(kTopk);
  plan_strategies(set, {{"single", {}}});
  set.strategies[0].error = CompressionError{0.5, 0.75};
  const auto records = make_records(set, unmeasured(set), 1, 1);
  EXPECT_EQ(records[0].compressor, "topk density=0.1");
  ASSERT_TRUE(records[0].compression.has_value());
  const CompressionRecord& record = *records[0].compression;
  EXPECT_EQ(record.id, "topk");
  EXPECT_EQ(record.options.word("memory"), "residual");
  EXPECT_EQ(record.dense_bytes, 4400);
  EXPECT_EQ(record.memory_bytes, 4400);
  EXPECT_EQ(record.planned_bytes, 8 * 110);
  EXPECT_EQ(record.copies, 3) << "three other ranks' messages";
  EXPECT_EQ(record.dense_copies, 1.5);
  EXPECT_EQ(record.planned_compress_ns, 1000);
  EXPECT_EQ(record.planned_decompress_ns, 100);
  EXPECT_EQ(record.error->worst_tensor, 0.75);
  EXPECT_FALSE(record.message_bytes.has_value()) << "not measured";
}

TEST(CompressedSet, TheRecordHasTheMeanMessageOfRanksAndIterations) {
  CaseSet set = compressed_set({"dgc", {}});
  plan_strategies(set, {{"single", {}}});
  ContestResult contest = unmeasured(set);
  contest.contestants[0].messages = MessageTotals{10, 4 * 10 * 32, 5, 6};
  const CompressionRecord record = *make_records(set, contest, 1, 1)[0].compression;
  EXPECT_EQ(record.message_bytes, 32);
  EXPECT_EQ(record.nans, 5U);
  EXPECT_EQ(record.infinities, 6U);
  contest.contestants[0].messages = MessageTotals{};
  EXPECT_FALSE(make_records(set, contest, 1, 1)[0].compression->message_bytes.has_value());
}

TEST(CompressedSet, DenseGradientsAreNotCompressed) {
  CaseSet set = compressed_set({"none", {}});
  plan_strategies(set, {{"single", {}}});
  const auto records = make_records(set, unmeasured(set), 1, 1);
  EXPECT_EQ(records[0].compressor, "none");
  EXPECT_FALSE(records[0].compression.has_value());
}

TEST(CompressedSet, TheAllGatherIsWantedWhereACompressorGathers) {
  const std::vector<ChoiceConfig> single{{"single", {}}};
  const Workload workload = pair();
  EXPECT_THAT(collectives_of(single, {{"none", {}}}, workload),
              ElementsAre(Collective::kAllReduce));
  EXPECT_THAT(collectives_of(single, {{"fp16", {}}}, workload),
              ElementsAre(Collective::kAllReduce));
  EXPECT_THAT(collectives_of(single, {{"none", {}}, kTopk}, workload),
              UnorderedElementsAre(Collective::kAllReduce, Collective::kAllGather));
  EXPECT_THAT(collectives_of({{"dear", {}}}, {kTopk}, workload),
              UnorderedElementsAre(Collective::kAllReduce, Collective::kAllGather))
      << "dear reduce-scatters dense gradients only";
}

}  // namespace
}  // namespace mergewise
