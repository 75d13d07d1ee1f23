// SPDX-License-Identifier: Apache-2.0
#include "bench/plan/merge_plan.hpp"

#include "bench/core/error.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <limits>
#include <set>
#include <vector>

namespace mergewise {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const std::vector<Bytes> kSizes{4, 8, 0, 16};

TEST(MergePlan, IsBuiltFromGroupEndsAndShowsThem) {
  const MergePlan plan = plan_from_ends("ddp", {1, 3, 4}, Collective::kAllGather);
  ASSERT_EQ(plan.groups.size(), 3U);
  EXPECT_EQ(plan.groups[1], (Group{1, 3, Collective::kAllGather, WhenReady{}}));
  EXPECT_THAT(plan.ends(), ElementsAre(1, 3, 4));
  EXPECT_NO_THROW(check(plan, 4));
}

TEST(MergePlan, IsPlainWhereEveryGroupIsAllReducedWholeWhenItIsReady) {
  const MergePlan plain = plan_from_ends("ddp", {1, 3, 4});
  EXPECT_TRUE(is_plain(plain));
  EXPECT_FALSE(is_plain(plan_from_ends("ddp", {1, 3, 4}, Collective::kAllGather)));
  for (const Release& release : {Release{BeforeForward{}}, Release{NotBefore{}}}) {
    MergePlan later = plain;
    later.groups[2].release = release;
    EXPECT_FALSE(is_plain(later));
  }
  MergePlan cut = plain;
  cut.chunking = Chunking{8, 8};
  EXPECT_FALSE(is_plain(cut));
}

TEST(MergePlan, RejectsTensorInTwoGroups) {
  MergePlan plan = plan_from_ends("ddp", {2, 4});
  plan.groups[1].begin = 1;
  EXPECT_THAT([&] { check(plan, 4); },
              ThrowsMessage<InputError>(HasSubstr("group 1 of the 'ddp' plan begins at tensor 1")));
}

TEST(MergePlan, RejectsTensorInNoGroup) {
  MergePlan plan = plan_from_ends("ddp", {2, 4});
  plan.groups[1].begin = 3;
  EXPECT_THROW(check(plan, 4), InputError);
}

TEST(MergePlan, RejectsMissingTensorsAtTheEnd) {
  EXPECT_THAT(
      [] {
        check(plan_from_ends("ddp", {2, 3}), 4);
      },
      ThrowsMessage<InputError>(HasSubstr("end at tensor 3, expected all 4")));
}

TEST(MergePlan, RejectsTensorsThatDoNotExist) {
  EXPECT_THAT(
      [] {
        check(plan_from_ends("ddp", {2, 5}), 4);
      },
      ThrowsMessage<InputError>(HasSubstr("ends at 5, but there are only 4")));
}

TEST(MergePlan, RejectsEmptyAndBackwardGroups) {
  EXPECT_THROW(check(plan_from_ends("ddp", {2, 2, 4}), 4), InputError);
  EXPECT_THROW(check(plan_from_ends("ddp", {3, 2, 4}), 4), InputError);
}

TEST(MergePlan, RejectsNoGroups) { EXPECT_THROW(check(MergePlan{}, 4), InputError); }

TEST(MergePlan, CoversEveryTensorOncePerPhase) {
  MergePlan plan = plan_from_ends("dear", {2, 4}, Collective::kReduceScatter);
  plan.groups.push_back({1, 4, Collective::kAllGather, BeforeForward{}});
  EXPECT_THAT([&] { check(plan, 4); },
              ThrowsMessage<InputError>(HasSubstr("all_gather groups end at tensor 1")));
  plan.groups.push_back({0, 1, Collective::kAllGather, BeforeForward{2}});
  EXPECT_NO_THROW(check(plan, 4));
  plan.groups.push_back(plan.groups[0]);
  EXPECT_THAT([&] { check(plan, 4); },
              ThrowsMessage<InputError>(HasSubstr("goes back to reduce_scatter")));
}

TEST(MergePlan, OnlyGroupsOfTheNextForwardPassGoInItsOrder) {
  MergePlan plan = plan_from_ends("t", {2, 4});
  std::swap(plan.groups[0], plan.groups[1]);
  EXPECT_THROW(check(plan, 4), InputError);
  for (Group& group : plan.groups) group.release = BeforeForward{};
  EXPECT_NO_THROW(check(plan, 4));
}

TEST(MergePlan, AGroupIsIssuedWithAnEarlierOneOfItsPhase) {
  MergePlan plan = plan_from_ends("t", {2, 4});
  plan.groups[0].release = BeforeForward{};
  plan.groups[1].release = BeforeForward{0};
  EXPECT_NO_THROW(check(plan, 4));
  plan.groups[1].release = BeforeForward{1};
  EXPECT_THROW(check(plan, 4), InputError);
}

TEST(MergePlan, OnlyTheWholeLastPhaseReachesIntoTheNextForwardPass) {
  MergePlan plan = plan_from_ends("t", {2, 4});
  plan.groups[0].release = BeforeForward{};
  EXPECT_THAT([&] { check(plan, 4); },
              ThrowsMessage<InputError>(HasSubstr("group 0 of the 't' plan is released before")));
  std::swap(plan.groups[0].release, plan.groups[1].release);
  EXPECT_THAT([&] { check(plan, 4); },
              ThrowsMessage<InputError>(HasSubstr("group 0 of the 't' plan is not released")));
  plan = plan_from_ends("t", {4}, Collective::kReduceScatter);
  plan.groups.push_back({0, 4, Collective::kAllGather, BeforeForward{}});
  EXPECT_NO_THROW(check(plan, 4));
  plan.groups[0].release = BeforeForward{};
  EXPECT_THROW(check(plan, 4), InputError);
}

TEST(MergePlan, ChunksAreNotEmpty) {
  MergePlan plan = plan_from_ends("t", {4});
  plan.groups[0].release = BeforeForward{};
  plan.chunking = Chunking{4, 4};
  EXPECT_NO_THROW(check(plan, 4));
  plan.chunking = Chunking{4, 0};
  EXPECT_THROW(check(plan, 4), InputError);
}

TEST(MergePlan, ChunksAreOfOneCollectiveInReadyOrderBeforeTheNextForwardPass) {
  MergePlan plan = plan_from_ends("t", {2, 4});
  plan.chunking = Chunking{4, 4};
  EXPECT_THROW(check(plan, 4), InputError) << "when ready";
  for (Group& group : plan.groups) group.release = BeforeForward{};
  EXPECT_NO_THROW(check(plan, 4));
  MergePlan other = plan;
  std::swap(other.groups[0], other.groups[1]);
  EXPECT_THROW(check(other, 4), InputError) << "in forward order";
  other = plan;
  other.groups[1].release = BeforeForward{0};
  EXPECT_THROW(check(other, 4), InputError) << "issued with a group";
}

TEST(MergePlan, RejectsReleaseTimesThatAreNoTimes) {
  MergePlan plan = plan_from_ends("horovod", {4});
  plan.groups[0].release = NotBefore{5};
  EXPECT_NO_THROW(check(plan, 4));
  plan.groups[0].release = NotBefore{-1};
  EXPECT_THROW(check(plan, 4), InputError);
  plan.groups[0].release = NotBefore{std::numeric_limits<double>::quiet_NaN()};
  EXPECT_THROW(check(plan, 4), InputError);
}

TEST(MergePlanHash, IsTheSameOnEveryMachine) {
  // Computed independently from the canonical bytes; a change breaks runs of mixed builds.
  const MergePlan plan = plan_from_ends("ddp", {2, 4});
  EXPECT_EQ(hash(plan, kSizes, WireFormat{}), 0x2ee4e14e54bdbaa8ULL);
}

TEST(MergePlanHash, DiffersWithEveryPartOfWhatIsSent) {
  const MergePlan plan = plan_from_ends("ddp", {2, 4});
  const std::uint64_t original = hash(plan, kSizes, WireFormat{});

  EXPECT_NE(original, hash(plan_from_ends("ddp", {1, 4}), kSizes, WireFormat{}));
  EXPECT_NE(original, hash(plan_from_ends("ddp", {2, 3, 4}), kSizes, WireFormat{}));
  EXPECT_NE(original, hash(plan_from_ends("dp", {2, 4}), kSizes, WireFormat{}));
  EXPECT_NE(original,
            hash(plan_from_ends("ddp", {2, 4}, Collective::kAllGather), kSizes, WireFormat{}));
  MergePlan later = plan;
  later.groups[1].release = NotBefore{0};
  EXPECT_NE(original, hash(later, kSizes, WireFormat{}));
  MergePlan before = plan;
  before.groups[1].release = BeforeForward{0};
  EXPECT_NE(hash(later, kSizes, WireFormat{}), hash(before, kSizes, WireFormat{}));
  EXPECT_NE(original, hash(plan, {4, 8, 16, 0}, WireFormat{}));
  EXPECT_NE(original, hash(plan, kSizes, WireFormat({.id = "topk"}, 4)));
  EXPECT_NE(original, hash(plan, kSizes, WireFormat({.id = "none", .density = 0.002}, 4)));
  EXPECT_NE(original, hash(plan, kSizes, WireFormat({}, 2)));
}

TEST(MergePlan, HashChangesWithEveryOptionOfACompressor) {
  const MergePlan plan = plan_from_ends("ddp", {2, 4});
  std::vector<CompressorSpec> specs(11, CompressorSpec{.id = "topk"});
  specs[1].memory = "residual";
  specs[2].density = 0.5;
  specs[3].group_scale = true;
  specs[4].bucket = 64;
  specs[5].sends_indices = true;
  specs[6].messages = 2;
  specs[7].dense_vectors = true;
  specs[8].momentum = 0.5;
  specs[9].clip = 1;
  specs[10].warm_up = 3;
  specs.push_back({.id = "topk", .seed = 5});
  std::set<std::uint64_t> hashes;
  for (const CompressorSpec& spec : specs) hashes.insert(hash(plan, kSizes, WireFormat(spec, 4)));
  EXPECT_EQ(hashes.size(), specs.size());
}

TEST(MergePlanJson, ShowsASimplePlanAsGroupEnds) {
  const nlohmann::json document = to_json(plan_from_ends("ddp", {2, 4}));
  EXPECT_EQ(document, nlohmann::json::parse(R"({"schema": "mergewise/plan/1", "strategy": "ddp",
                                                "groups": [2, 4], "collective": "all_reduce"})"));
}

TEST(MergePlanJson, ListsTheSendsOfAPlanThatEndsDoNotDescribe) {
  MergePlan plan = plan_from_ends("horovod", {2, 4});
  plan.groups[1].release = NotBefore{1500};
  const nlohmann::json document = to_json(plan);
  EXPECT_EQ(document.at("groups"), nlohmann::json({2, 4}));
  EXPECT_EQ(document.at("sends").at(0).at("release"), "when_ready");
  EXPECT_EQ(document.at("sends").at(1), nlohmann::json::parse(R"({"begin": 2, "end": 4,
      "collective": "all_reduce", "release": {"not_before_ns": 1500.0}})"));
  plan.groups[1].release = BeforeForward{0};
  EXPECT_EQ(to_json(plan).at("sends").at(1).at("release"),
            nlohmann::json::parse(R"({"before_forward": {"issued_with_group": 0}})"));
  plan.groups[1].release = BeforeForward{};
  EXPECT_EQ(to_json(plan).at("sends").at(1).at("release"), "before_forward");
}

}  // namespace
}  // namespace mergewise
