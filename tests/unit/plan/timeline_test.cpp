// SPDX-License-Identifier: Apache-2.0
#include "bench/plan/timeline.hpp"

#include "bench/core/error.hpp"
#include "tests/unit/plan/spans.hpp"

#include <gmock/gmock.h>

namespace mergewise {
namespace {

using test::compute;
using test::lane;
using test::transfer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

struct Tensor {
  Bytes bytes;
  Nanoseconds backward;
};

Profile profile_of(const std::vector<Tensor>& tensors, CostModel transfer) {
  Profile profile;
  profile.name = "timeline";
  profile.forward_ns = 100;
  for (const auto& [bytes, backward] : tensors) {
    ProfileTensor tensor;
    tensor.bytes = bytes;
    tensor.backward_ns = backward;
    profile.tensors.push_back(tensor);
  }
  profile.all_reduce.emplace();
  profile.all_reduce->isolated = std::move(transfer);
  return profile;
}

TEST(Timeline, SendsAGroupOnceItIsReadyAndTheNetworkIsFree) {
  // Group 1 waits for group 0's transfer, group 2 for its own tensor.
  const TimeModel model(profile_of({{40, 10}, {10, 5}, {20, 60}}, LinearCost{3, 1}));
  const Timeline timeline = predict(model, plan_from_ends("t", {1, 2, 3}));

  EXPECT_THAT(
      lane(timeline, Lane::kCompute),
      ElementsAre(compute(Activity::kForward, 0, 0, 100), compute(Activity::kBackward, 0, 100, 110),
                  compute(Activity::kBackward, 1, 110, 115),
                  compute(Activity::kBackward, 2, 115, 175)));
  EXPECT_THAT(lane(timeline, Lane::kCommunication),
              ElementsAre(transfer(0, 110, 153), transfer(1, 153, 166), transfer(2, 175, 198)));
  EXPECT_EQ(timeline.iteration_ns, 198);
  EXPECT_EQ(timeline.compute_ns, 175);
  EXPECT_EQ(timeline.comm_busy_ns, 79);
  EXPECT_EQ(timeline.exposed_ns, 23);
}

TEST(Timeline, MergedGroupIsReadyWithItsLastTensor) {
  const TimeModel model(profile_of({{40, 10}, {10, 5}}, LinearCost{3, 1}));
  const Timeline timeline = predict(model, plan_from_ends("t", {2}));
  EXPECT_THAT(lane(timeline, Lane::kCommunication), ElementsAre(transfer(0, 115, 168)));
}

TEST(Timeline, PacksBeforeSendingAndUnpacksAfterAllBackwardWork) {
  Profile profile = profile_of({{10, 10}, {20, 10}}, LinearCost{0, 1});
  profile.pack = LinearCost{4, 0};
  profile.unpack = LinearCost{6, 0};
  const Timeline timeline = predict(TimeModel(profile), plan_from_ends("t", {1, 2}));

  // Group 0 arrived at 124 but is unpacked after group 1's packing; group 1 when it arrives.
  EXPECT_THAT(
      lane(timeline, Lane::kCompute),
      ElementsAre(compute(Activity::kForward, 0, 0, 100), compute(Activity::kBackward, 0, 100, 110),
                  compute(Activity::kPack, 0, 110, 114), compute(Activity::kBackward, 1, 114, 124),
                  compute(Activity::kPack, 1, 124, 128), compute(Activity::kUnpack, 0, 128, 134),
                  compute(Activity::kUnpack, 1, 148, 154)));
  EXPECT_THAT(lane(timeline, Lane::kCommunication),
              ElementsAre(transfer(0, 114, 124), transfer(1, 128, 148)));
  EXPECT_EQ(timeline.iteration_ns, 154);
  EXPECT_EQ(timeline.compute_ns, 140);
  EXPECT_EQ(timeline.comm_busy_ns, 30);
  EXPECT_EQ(timeline.exposed_ns, 14) << "unpacking group 0 hides 6 of group 1's 20 ns";
}

TEST(Timeline, UnpacksInGroupOrderEvenWhenAllHasArrived) {
  Profile profile = profile_of({{10, 10}, {20, 100}, {0, 50}}, LinearCost{0, 1});
  profile.update = LinearCost{0, 1};
  const Timeline timeline = predict(TimeModel(profile), plan_from_ends("t", {1, 2, 3}));
  EXPECT_EQ(timeline.iteration_ns, 290);  // 260 backward, then 10 + 20 of updates
  EXPECT_EQ(timeline.exposed_ns, 0);
}

TEST(Timeline, CompressionDelaysLaterTensors) {
  Profile profile = profile_of({{8, 10}, {8, 10}}, CostModel{});
  profile.all_gather = profile.all_reduce;
  profile.all_gather->isolated = LinearCost{5, 0};
  profile.compressor = "topk";
  profile.density = 1;
  profile.compressors["topk"] = {LinearCost{30, 0}, LinearCost{2, 0}};
  const MergePlan plan = plan_from_ends("t", {1, 2}, Collective::kAllGather);
  const Timeline timeline = predict(TimeModel(profile), plan);
  EXPECT_THAT(lane(timeline, Lane::kCommunication),
              ElementsAre(transfer(0, 140, 145), transfer(1, 180, 185)));
  EXPECT_EQ(timeline.iteration_ns, 187);
}

TEST(Timeline, EmptyGroupsAndZeroTimesLeaveNoSpans) {
  const TimeModel model(profile_of({{0, 0}, {4, 0}, {0, 0}}, LinearCost{5, 1}));
  const Timeline timeline = predict(model, plan_from_ends("t", {1, 2, 3}));
  EXPECT_THAT(timeline.spans,
              ElementsAre(compute(Activity::kForward, 0, 0, 100), transfer(1, 100, 109)));
  EXPECT_EQ(timeline.iteration_ns, 109);
}

TEST(Timeline, NothingToDoTakesNoTime) {
  Profile profile = profile_of({{0, 0}}, LinearCost{5, 1});
  profile.forward_ns = 0;
  const Timeline timeline = predict(TimeModel(profile), plan_from_ends("t", {1}));
  EXPECT_THAT(timeline.spans, IsEmpty());
  EXPECT_EQ(timeline.iteration_ns, 0);
  EXPECT_EQ(timeline.exposed_ns, 0);
}

TEST(Timeline, EmptyLastGroupStillEndsWithTheBackwardPass) {
  const TimeModel model(profile_of({{4, 10}, {0, 90}}, LinearCost{5, 1}));
  EXPECT_EQ(predict(model, plan_from_ends("t", {1, 2})).iteration_ns, 200);
}

TEST(Timeline, HoldsAGroupUntilItsReleaseTime) {
  const TimeModel model(profile_of({{10, 10}, {10, 10}}, LinearCost{0, 1}));
  MergePlan plan = plan_from_ends("t", {1, 2});
  plan.groups[0].release = NotBefore{15};
  plan.groups[1].release = NotBefore{18};
  EXPECT_THAT(lane(predict(model, plan), Lane::kCommunication),
              ElementsAre(transfer(0, 115, 125), transfer(1, 125, 135)));
  plan.groups[1].release = NotBefore{400};
  const Timeline timeline = predict(model, plan);
  EXPECT_EQ(timeline.iteration_ns, 510);
  EXPECT_EQ(timeline.exposed_ns, 5 + 10);
}

TEST(Timeline, RefusesOtherCollectivesAndNamesAMissingCost) {
  Profile profile = profile_of({{10, 10}}, LinearCost{0, 1});
  EXPECT_THAT(
      [&] {
        static_cast<void>(
            predict(TimeModel(profile), plan_from_ends("t", {1}, Collective::kReduceScatter)));
      },
      ThrowsMessage<UnsupportedError>(HasSubstr("group 0 of the 't' plan uses reduce_scatter")));
  profile.all_reduce.reset();
  EXPECT_THAT(
      [&] { static_cast<void>(predict_iteration(TimeModel(profile), plan_from_ends("t", {1}))); },
      ThrowsMessage<UnsupportedError>(HasSubstr("no cost of 'all_reduce', which the 't' plan")));
}

TEST(Timeline, EarlierMicroBatchesComeFirst) {
  Profile profile = profile_of({{10, 10}, {20, 10}}, LinearCost{0, 1});
  profile.accumulation = 3;
  MergePlan plan = plan_from_ends("t", {1, 2});
  plan.groups[0].release = NotBefore{15};
  const Timeline timeline = predict(TimeModel(profile), plan);
  EXPECT_THAT(
      lane(timeline, Lane::kCompute),
      ElementsAre(
          compute(Activity::kForward, 0, 0, 100), compute(Activity::kBackward, 0, 100, 120),
          compute(Activity::kForward, 0, 120, 220), compute(Activity::kBackward, 0, 220, 240),
          compute(Activity::kForward, 0, 240, 340), compute(Activity::kBackward, 0, 340, 350),
          compute(Activity::kBackward, 1, 350, 360)));
  EXPECT_THAT(lane(timeline, Lane::kCommunication),
              ElementsAre(transfer(0, 355, 365), transfer(1, 365, 385)));
  EXPECT_EQ(timeline.iteration_ns, 385);
  EXPECT_EQ(timeline.compute_ns, 360);
  EXPECT_EQ(timeline.exposed_ns, 25);
}

TEST(Timeline, IterationAloneIsExactlyTheSame) {
  Profile profile = profile_of({{12, 0.1}, {4, 0.2}, {0, 0.7}, {8, 1e9}}, LinearCost{1e7, 0.3});
  profile.pack = LinearCost{0.1, 0.7};
  profile.update = LinearCost{0.3, 0.9};
  const TimeModel model(profile);
  for (const auto& ends : std::vector<std::vector<std::size_t>>{{4}, {1, 2, 3, 4}, {2, 4}}) {
    const MergePlan plan = plan_from_ends("t", ends);
    EXPECT_EQ(predict_iteration(model, plan), predict(model, plan).iteration_ns);
  }
}

}  // namespace
}  // namespace mergewise
