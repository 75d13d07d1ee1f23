// SPDX-License-Identifier: Apache-2.0
// Timelines of plans that reach into the next forward pass: the examples of docs/time-model.md, and
// what holds for any such plan.
#include "bench/core/error.hpp"
#include "bench/plan/timeline.hpp"
#include "tests/unit/plan/spans.hpp"
#include "tests/unit/strategies/profiles.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>
#include <tuple>

namespace mergewise {
namespace {

using test::compute;
using test::lane;
using test::transfer;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// Three layers of one tensor each; the forward pass goes from the last to the first.
Profile example() {
  Profile profile = test::profile_of({{40, 10}, {20, 10}, {8, 10}}, LinearCost{0, 1});
  profile.forward_ns = 60;
  profile.tensors[0].forward_ns = 30;
  profile.tensors[1].forward_ns = 20;
  profile.tensors[2].forward_ns = 10;
  profile.ranks = 4;
  profile.reduce_scatter.emplace().isolated = LinearCost{4, 0.5};
  profile.all_gather.emplace().isolated = LinearCost{4, 2};
  return profile;
}

/// Reduce-scatters of groups that end there, and all-gathers in forward order; each is issued with
/// the forward work of the one before it, or at once.
MergePlan halves(const std::vector<std::size_t>& ends, bool at_once = false) {
  MergePlan plan = plan_from_ends("halves", ends, Collective::kReduceScatter);
  const std::size_t count = ends.size();
  for (std::size_t i = 0; i < count; ++i) {
    Group group = plan.groups[count - 1 - i];
    group.collective = Collective::kAllGather;
    BeforeForward release;
    if (i > 0 && !at_once) release.issued_with = count + i - 1;
    group.release = release;
    plan.groups.push_back(group);
  }
  return plan;
}

/// An all-reduce for each group, before the next forward pass.
MergePlan forward_all_reduces(const std::vector<std::size_t>& ends) {
  MergePlan plan = plan_from_ends("forward", ends);
  for (Group& group : plan.groups) group.release = BeforeForward{};
  return plan;
}

MergePlan chunked(const std::vector<std::size_t>& ends, Bytes partition, Bytes credit) {
  MergePlan plan = forward_all_reduces(ends);
  plan.chunking = Chunking{partition, credit};
  return plan;
}

TEST(NextForward, GathersBehindTheForwardPassAsInTheDocumentation) {
  const Timeline timeline = predict(TimeModel(example()), halves({1, 3}));
  EXPECT_THAT(
      lane(timeline, Lane::kCompute),
      ElementsAre(compute(Activity::kBackward, 0, 0, 10), compute(Activity::kBackward, 1, 10, 30),
                  compute(Activity::kForward, 2, 70, 100),
                  compute(Activity::kForward, 3, 100, 130)));
  EXPECT_THAT(lane(timeline, Lane::kCommunication),
              ElementsAre(transfer(0, 10, 34), transfer(1, 34, 52), transfer(2, 52, 70),
                          transfer(3, 70, 94)));
  EXPECT_EQ(timeline.iteration_ns, 130);
  EXPECT_EQ(timeline.compute_ns, 90);
  EXPECT_EQ(timeline.comm_busy_ns, 84);
  EXPECT_EQ(timeline.exposed_ns, 40);
}

TEST(NextForward, IssuesAGatherWithTheForwardWorkOfTheGroupItNames) {
  // Reduce-scatters end at 66; gathers take 8, 14 and 24.
  const TimeModel model(example());
  EXPECT_THAT(lane(predict(model, halves({1, 2, 3})), Lane::kCommunication),
              ElementsAre(transfer(0, 10, 34), transfer(1, 34, 48), transfer(2, 48, 56),
                          transfer(3, 56, 64), transfer(4, 64, 78), transfer(5, 78, 102)));
  // The first layer's forward work takes 50: the third gather waits for the second's, or not.
  Profile slow = example();
  slow.forward_ns = 100;
  slow.tensors[2].forward_ns = 50;
  EXPECT_THAT(lane(predict(TimeModel(slow), halves({1, 2, 3})), Lane::kCommunication),
              ElementsAre(transfer(0, 10, 34), transfer(1, 34, 48), transfer(2, 48, 56),
                          transfer(3, 56, 64), transfer(4, 64, 78), transfer(5, 114, 138)));
  EXPECT_EQ(predict_iteration(TimeModel(slow), halves({1, 2, 3})), 168);
  EXPECT_THAT(lane(predict(TimeModel(slow), halves({1, 2, 3}, true)), Lane::kCommunication),
              ElementsAre(transfer(0, 10, 34), transfer(1, 34, 48), transfer(2, 48, 56),
                          transfer(3, 56, 64), transfer(4, 64, 78), transfer(5, 78, 102)));
  EXPECT_EQ(predict_iteration(TimeModel(slow), halves({1, 2, 3}, true)), 164);
}

TEST(NextForward, EachRankContributesItsShareRoundedUp) {
  Profile profile = example();
  profile.all_gather->isolated = LinearCost{0, 1};
  profile.ranks = 3;
  const auto sent = lane(predict(TimeModel(profile), halves({3})), Lane::kCommunication);
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_EQ(sent[1].end - sent[1].begin, 23);  // of 68 bytes
}

TEST(NextForward, PacksInTheBackwardPassAndUnpacksBeforeTheLayerNeedsIt) {
  Profile profile = example();
  profile.pack = LinearCost{1, 0};
  profile.unpack = LinearCost{3, 0};
  profile.update = LinearCost{2, 0};
  const Timeline timeline = predict(TimeModel(profile), halves({1, 3}));
  EXPECT_THAT(
      lane(timeline, Lane::kCompute),
      ElementsAre(compute(Activity::kBackward, 0, 0, 10), compute(Activity::kPack, 0, 10, 11),
                  compute(Activity::kBackward, 1, 11, 31), compute(Activity::kPack, 1, 31, 32),
                  compute(Activity::kUnpack, 2, 71, 76), compute(Activity::kForward, 2, 76, 106),
                  compute(Activity::kUnpack, 3, 106, 111),
                  compute(Activity::kForward, 3, 111, 141)));
  EXPECT_EQ(lane(timeline, Lane::kCommunication).back(), transfer(3, 76, 100));
  EXPECT_EQ(timeline.compute_ns, 90 + 2 + 10);
}

TEST(NextForward, EarlierMicroBatchesComeFirst) {
  Profile profile = example();
  profile.accumulation = 3;
  const Timeline timeline = predict(TimeModel(profile), halves({1, 3}));
  const auto computing = lane(timeline, Lane::kCompute);
  ASSERT_EQ(computing.size(), 4U + 4U);
  EXPECT_EQ(computing[0], compute(Activity::kBackward, 0, 0, 30));
  EXPECT_EQ(computing[1], compute(Activity::kForward, 0, 30, 90));
  EXPECT_EQ(computing[3], compute(Activity::kForward, 0, 120, 180));
  EXPECT_EQ(lane(timeline, Lane::kCommunication).front(), transfer(0, 190, 214));
  EXPECT_EQ(timeline.iteration_ns, 180 + 130);
  EXPECT_EQ(timeline.compute_ns, 270);
  EXPECT_EQ(timeline.exposed_ns, 40);
}

TEST(NextForward, AllReducesInReadyOrderArriveBeforeTheirLayers) {
  const Timeline timeline = predict(TimeModel(example()), forward_all_reduces({1, 2, 3}));
  EXPECT_THAT(lane(timeline, Lane::kCommunication),
              ElementsAre(transfer(0, 10, 50), transfer(1, 50, 70), transfer(2, 70, 78)));
  EXPECT_THAT(
      lane(timeline, Lane::kCompute),
      ElementsAre(compute(Activity::kBackward, 0, 0, 10), compute(Activity::kBackward, 1, 10, 20),
                  compute(Activity::kBackward, 2, 20, 30), compute(Activity::kForward, 2, 78, 88),
                  compute(Activity::kForward, 1, 88, 108),
                  compute(Activity::kForward, 0, 108, 138)));
}

TEST(NextForward, AllReducesInForwardOrderWaitForTheBackwardPass) {
  MergePlan plan = forward_all_reduces({1, 2, 3});
  std::swap(plan.groups[0], plan.groups[2]);
  const Timeline timeline = predict(TimeModel(example()), plan);
  EXPECT_THAT(lane(timeline, Lane::kCommunication),
              ElementsAre(transfer(0, 30, 38), transfer(1, 38, 58), transfer(2, 58, 98)));
  EXPECT_EQ(lane(timeline, Lane::kCompute)[0], compute(Activity::kBackward, 2, 0, 10));
  EXPECT_EQ(timeline.iteration_ns, 128);
}

TEST(NextForward, ALayerWaitsForAllGroupsThatCarryItsTensors) {
  Profile profile = example();
  profile.tensors[0].layer = profile.tensors[1].layer = "a";
  const Timeline timeline = predict(TimeModel(profile), forward_all_reduces({1, 2, 3}));
  EXPECT_EQ(lane(timeline, Lane::kCompute).back(), compute(Activity::kForward, 0, 88, 138));
  profile.tensors[0].bytes = 0;  // arrives when it is ready: nothing changes for its layer
  EXPECT_EQ(predict_iteration(TimeModel(profile), forward_all_reduces({1, 2, 3})), 108);
}

TEST(NextForward, RefusesAGroupThatWaitsForItself) {
  MergePlan plan = halves({1, 3});
  Profile profile = example();
  profile.tensors[0].layer = profile.tensors[1].layer = "a";
  profile.tensors[2].layer = "b";
  EXPECT_NO_THROW(static_cast<void>(predict(TimeModel(profile), halves({2, 3}))));
  for (ProfileTensor& tensor : profile.tensors) tensor.layer = "a";
  EXPECT_THAT([&] { static_cast<void>(predict(TimeModel(profile), plan)); },
              ThrowsMessage<InputError>(AllOf(HasSubstr("group 3 of the 'halves' plan"),
                                              HasSubstr("group 2, which waits for it"))));
}

TEST(NextForward, NamesWhatTheProfileLacks) {
  const auto predicting = [](const Profile& profile) {
    return [profile] { static_cast<void>(predict_iteration(TimeModel(profile), halves({3}))); };
  };
  Profile profile = example();
  profile.reduce_scatter.reset();
  EXPECT_THAT(predicting(profile),
              ThrowsMessage<UnsupportedError>(
                  AllOf(HasSubstr("no cost of 'reduce_scatter'"), HasSubstr("'halves' plan"))));
  profile = example();
  profile.ranks.reset();
  EXPECT_THAT(predicting(profile), ThrowsMessage<UnsupportedError>(HasSubstr("'ranks'")));
  profile = example();
  profile.compressor = "fp16";
  profile.compressors["fp16"] = {};
  EXPECT_THAT(predicting(profile), ThrowsMessage<UnsupportedError>(HasSubstr("'fp16'")));
}

TEST(Chunks, GoByPriorityAsInTheDocumentation) {
  const Timeline timeline = predict(TimeModel(example()), chunked({1, 2, 3}, 16, 16));
  EXPECT_THAT(lane(timeline, Lane::kCommunication),
              ElementsAre(transfer(0, 10, 26), transfer(1, 26, 42), transfer(2, 42, 50),
                          transfer(1, 50, 54), transfer(0, 54, 70), transfer(0, 70, 78)));
  EXPECT_THAT(
      lane(timeline, Lane::kCompute),
      ElementsAre(compute(Activity::kBackward, 0, 0, 10), compute(Activity::kBackward, 1, 10, 20),
                  compute(Activity::kBackward, 2, 20, 30), compute(Activity::kForward, 2, 50, 60),
                  compute(Activity::kForward, 1, 60, 80), compute(Activity::kForward, 0, 80, 110)));
  EXPECT_EQ(timeline.iteration_ns, 110);
  EXPECT_EQ(timeline.compute_ns, 90);
  EXPECT_EQ(timeline.comm_busy_ns, 68);
  EXPECT_EQ(timeline.exposed_ns, 20);
}

TEST(Chunks, InFlightCannotBeOvertaken) {
  const Timeline timeline = predict(TimeModel(example()), chunked({1, 2, 3}, 16, 32));
  EXPECT_THAT(lane(timeline, Lane::kCommunication),
              ElementsAre(transfer(0, 10, 26), transfer(0, 26, 42), transfer(1, 42, 58),
                          transfer(2, 58, 66), transfer(1, 66, 70), transfer(0, 70, 78)));
  EXPECT_EQ(timeline.iteration_ns, 126);
}

TEST(Chunks, MustFitIntoWhatIsLeftOfTheCredit) {
  const Timeline timeline = predict(TimeModel(example()), chunked({1, 2, 3}, 16, 24));
  EXPECT_THAT(lane(timeline, Lane::kCommunication),
              ElementsAre(transfer(0, 10, 26), transfer(1, 26, 42), transfer(1, 42, 46),
                          transfer(2, 46, 54), transfer(0, 54, 70), transfer(0, 70, 78)));
  EXPECT_EQ(timeline.iteration_ns, 114);
}

TEST(Chunks, OneMayAlwaysGo) {
  const TimeModel model(example());
  EXPECT_EQ(predict_iteration(model, chunked({1, 2, 3}, 16, 1)), 110);
}

TEST(Chunks, OfHugePartitionAndCreditAreTheTensorsInReadyOrder) {
  const TimeModel model(example());
  EXPECT_EQ(predict_iteration(model, chunked({1, 2, 3}, 1 << 20, 1 << 20)),
            predict_iteration(model, forward_all_reduces({1, 2, 3})));
}

TEST(Chunks, EachPayTheirStartUp) {
  Profile profile = example();
  profile.all_reduce->isolated = LinearCost{100, 0};
  const Timeline timeline = predict(TimeModel(profile), chunked({1, 2, 3}, 16, 16));
  EXPECT_EQ(timeline.comm_busy_ns, 600);
}

TEST(Chunks, AreNotTooMany) {
  Profile profile = example();
  profile.tensors[0].bytes = Bytes{1} << 40;
  EXPECT_THAT(
      [&] {
        static_cast<void>(predict(TimeModel(profile), chunked({1, 2, 3}, 16, 16)));
      },
      ThrowsMessage<InputError>(HasSubstr("choose a larger partition")));
}

TEST(Chunks, NeedDenseGradientsAndTheCostOfTheirCollective) {
  Profile profile = example();
  profile.all_reduce.reset();
  EXPECT_THAT([&] { static_cast<void>(predict(TimeModel(profile), chunked({3}, 4, 4))); },
              ThrowsMessage<UnsupportedError>(HasSubstr("no cost of 'all_reduce'")));
}

// What holds for any plan that reaches into the next forward pass.
void expect_sound(const TimeModel& model, const MergePlan& plan) {
  const Timeline timeline = predict(model, plan);
  EXPECT_EQ(predict_iteration(model, plan), timeline.iteration_ns);
  const double tolerance = 1e-9 * (1 + timeline.iteration_ns);
  Nanoseconds sums[2] = {0, 0};
  for (const Lane side : {Lane::kCompute, Lane::kCommunication}) {
    Nanoseconds free = 0;
    for (const Span& span : lane(timeline, side)) {
      EXPECT_GE(span.begin, free - tolerance) << "lanes do one thing at a time";
      EXPECT_GT(span.end, span.begin);
      free = span.end;
      sums[static_cast<std::size_t>(side)] += span.end - span.begin;
    }
    EXPECT_LE(free, timeline.iteration_ns + tolerance);
  }
  EXPECT_NEAR(sums[0], timeline.compute_ns, tolerance);
  EXPECT_NEAR(sums[1], timeline.comm_busy_ns, tolerance);
  EXPECT_LE(timeline.exposed_ns, timeline.comm_busy_ns + tolerance);
  // The compute lane waits for nothing but the network.
  EXPECT_NEAR(timeline.iteration_ns, timeline.compute_ns + timeline.exposed_ns, tolerance);
}

Profile random_profile(test::Random& random) {
  test::Shape shape;
  shape.zero_times = random.one_in(3);
  shape.empty_tensors = random.one_in(3);
  shape.small_integers = random.one_in(3);
  const auto tensors = random.tensors(static_cast<std::size_t>(random.integer(1, 40)), shape);
  Profile profile = test::profile_of(tensors, random.line(shape));
  profile.reduce_scatter.emplace().isolated = random.line(shape);
  profile.all_gather.emplace().isolated = random.table(test::total_bytes(tensors));
  profile.ranks = static_cast<int>(random.integer(1, 64));
  profile.accumulation = static_cast<int>(random.integer(1, 3));
  if (random.one_in(2)) profile.pack = random.line(shape);
  if (random.one_in(2)) profile.update = random.line(shape);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (random.one_in(2)) profile.tensors[i].forward_ns = random.integer(0, 20);
    profile.tensors[i].layer = std::to_string(i / 2);
  }
  return profile;
}

TEST(NextForward, SpansAreSoundForAnyPlan) {
  test::Random random(20);
  for (int round = 0; round < 300; ++round) {
    const TimeModel model(random_profile(random));
    std::vector<std::size_t> ends;
    for (const std::size_t end : model.layer_ends()) {
      if (end == model.tensor_count() || random.one_in(2)) ends.push_back(end);
    }
    std::vector<std::size_t> each(model.tensor_count());
    std::iota(each.begin(), each.end(), std::size_t{1});
    const Bytes largest = model.bytes(0, model.tensor_count()) + 1;
    for (const MergePlan& plan :
         {halves(ends), halves(ends, true), forward_all_reduces(each),
          chunked(each, 1 + largest / random.integer(1, 40), random.integer(1, largest))}) {
      SCOPED_TRACE(testing::Message() << "round " << round << ", plan '" << plan.strategy << "'");
      ASSERT_NO_THROW(check(plan, model.tensor_count()));
      expect_sound(model, plan);
    }
  }
}

TEST(NextForward, ReductionsEndBeforeTheFirstGather) {
  test::Random random(21);
  for (int round = 0; round < 100; ++round) {
    const TimeModel model(random_profile(random));
    const MergePlan plan = halves(model.layer_ends(), random.one_in(2));
    bool gathering = false;
    for (const Span& span : lane(predict(model, plan), Lane::kCommunication)) {
      const bool gather = span.index >= model.layer_ends().size();
      EXPECT_TRUE(gather || !gathering) << span;
      gathering = gather;
    }
  }
}

}  // namespace
}  // namespace mergewise
