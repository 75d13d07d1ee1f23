// SPDX-License-Identifier: Apache-2.0
#include "bench/plan/time_model.hpp"

#include "bench/core/error.hpp"

#include <gmock/gmock.h>

namespace mergewise {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

ProfileTensor tensor(Bytes bytes, Nanoseconds backward) {
  ProfileTensor made;
  made.bytes = bytes;
  made.backward_ns = backward;
  return made;
}

CollectiveCost plain(CostModel model) {
  CollectiveCost cost;
  cost.isolated = std::move(model);
  return cost;
}

Profile dense_profile() {
  Profile profile;
  profile.name = "small";
  profile.forward_ns = 100;
  profile.tensors = {tensor(8, 10), tensor(0, 20), tensor(4, 0)};
  profile.all_reduce = plain(LinearCost{5, 2});
  return profile;
}

Profile topk_profile() {
  Profile profile = dense_profile();
  profile.all_reduce.reset();
  profile.all_gather = plain(LinearCost{1000, 1});
  profile.compressor = "topk";
  profile.density = 0.5;
  profile.compressors["topk"] = {LinearCost{7, 0}, LinearCost{9, 0}};
  return profile;
}

TEST(TimeModel, SumsBackwardTimesAndBytesInReadyOrder) {
  const TimeModel model(dense_profile());
  EXPECT_EQ(model.tensor_count(), 3U);
  EXPECT_EQ(model.forward(), 100);
  EXPECT_EQ(model.backward(1), 20);
  EXPECT_EQ(model.ready(0), 10);
  EXPECT_EQ(model.ready(2), 30);
  EXPECT_EQ(model.bytes(0), 8);
  EXPECT_EQ(model.bytes(0, 3), 12);
  EXPECT_EQ(model.bytes(1, 2), 0);
}

TEST(TimeModel, CostsOfDenseGradientsAreTheTransferAlone) {
  const TimeModel model(dense_profile());
  EXPECT_EQ(model.collective(), Collective::kAllReduce);
  EXPECT_EQ(model.transfer(8), 21);
  EXPECT_EQ(model.transfer(0), 0);
  EXPECT_EQ(model.before_send(8), 0);
  EXPECT_EQ(model.after_send(8), 0);
  EXPECT_TRUE(model.only_transfers());
  ASSERT_NE(model.dense_line(), nullptr);
  EXPECT_EQ(*model.dense_line(), (LinearCost{5, 2}));
}

TEST(TimeModel, AddsPackingAndUpdate) {
  Profile profile = dense_profile();
  profile.pack = LinearCost{1, 0};
  profile.unpack = LinearCost{2, 0};
  profile.update = LinearCost{0, 3};
  const TimeModel model(profile);
  EXPECT_EQ(model.before_send(8), 1);
  EXPECT_EQ(model.after_send(8), 26);
  EXPECT_FALSE(model.only_transfers());
}

TEST(TimeModel, CompressorChoosesCollectiveWireBytesAndCosts) {
  const TimeModel model(topk_profile());
  EXPECT_EQ(model.collective(), Collective::kAllGather);
  EXPECT_EQ(model.transfer(16), 1016);  // half of four elements, eight bytes each
  EXPECT_EQ(model.before_send(16), 7);
  EXPECT_EQ(model.after_send(16), 9);
  EXPECT_EQ(model.dense_line(), nullptr);
  EXPECT_FALSE(model.only_transfers());
}

TEST(TimeModel, CompressorWithoutCostsOfTimeIsTransfersOnly) {
  Profile profile = topk_profile();
  profile.compressors["topk"] = {};
  EXPECT_TRUE(TimeModel(profile).only_transfers());
}

TEST(TimeModel, MeasuredCostHasNoLine) {
  Profile profile = dense_profile();
  profile.all_reduce = plain(MeasuredCost{{{1, 10}, {11, 20}}});
  const TimeModel model(profile);
  EXPECT_EQ(model.dense_line(), nullptr);
  EXPECT_EQ(model.transfer(6), 15);
}

TEST(TimeModel, PlansWithTheVariantThatIsNearestToTraining) {
  Profile profile = dense_profile();
  profile.all_reduce->beside_compute = LinearCost{6, 3};
  EXPECT_EQ(*TimeModel(profile).dense_line(), (LinearCost{6, 3}));
}

TEST(TimeModel, NamesTheCollectiveThatHasNoCost) {
  Profile profile = topk_profile();
  profile.all_gather.reset();
  EXPECT_THAT([&] { TimeModel{profile}; },
              ThrowsMessage<UnsupportedError>(AllOf(HasSubstr("'all_gather'"), HasSubstr("topk"))));
}

TEST(TimeModel, RefusesACompressorThatIsUnknownOrHasNoCosts) {
  Profile profile = topk_profile();
  profile.compressors.clear();
  EXPECT_THAT([&] { TimeModel{profile}; },
              ThrowsMessage<InputError>(HasSubstr("no costs of its compressor 'topk'")));
  profile.compressor = "zip";
  EXPECT_THROW(TimeModel{profile}, InputError);
}

TEST(TimeModel, RefusesAProfileWithoutTensors) {
  Profile profile = dense_profile();
  profile.tensors.clear();
  EXPECT_THROW(TimeModel{profile}, InputError);
}

}  // namespace
}  // namespace mergewise
