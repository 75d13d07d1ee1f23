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

TEST(TimeModel, MessagesInPartsGoOneAfterTheOther) {
  Profile profile = topk_profile();
  EXPECT_EQ(TimeModel(profile).transfer(0, 3), 1000 + 8);
  profile.compressor_options.set("messages", std::int64_t{2});
  EXPECT_EQ(TimeModel(profile).wire_bytes(0, 3), 8);
  EXPECT_EQ(TimeModel(profile).transfer(0, 3), 2 * (1000 + 4));
  EXPECT_EQ(TimeModel(profile).transfer(1, 2), 0) << "nothing to send";
}

TEST(TimeModel, CountsBytesOfTensorsOfOneDimension) {
  Profile profile = topk_profile();
  profile.compressor = "dgc";
  profile.compressors["dgc"] = {};
  profile.density = 0.1;
  profile.tensors = {tensor(400, 1), tensor(40, 1), tensor(800, 1), tensor(80, 1)};
  EXPECT_EQ(TimeModel(profile).wire_bytes(0, 4), 8 * 33) << "unknown shapes";
  profile.tensors[0].shape = {10, 10};
  profile.tensors[1].shape = {10};
  profile.tensors[2].shape = {10, 20};
  profile.tensors[3].shape = {20};
  const TimeModel model(profile);
  EXPECT_EQ(model.wire_bytes(0, 4), 8 * 30 + 4 * 30);
  EXPECT_EQ(model.wire_bytes(1, 2), 4 * 10);
  EXPECT_EQ(model.wire_bytes(1, 3), 4 * 10 + 8 * 20);
  EXPECT_EQ(model.merged({2, 4}).wire_bytes(1, 2), 8 * 20 + 4 * 20);
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
  EXPECT_EQ(model.transfer(0, 1), 21);
  EXPECT_EQ(model.transfer(1, 2), 0);
  EXPECT_EQ(model.before_send(0, 1), 0);
  EXPECT_EQ(model.after_send(0, 1), 0);
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
  EXPECT_EQ(model.before_send(0, 1), 1);
  EXPECT_EQ(model.after_send(0, 1), 26);
  EXPECT_FALSE(model.only_transfers());
}

TEST(TimeModel, CompressorChoosesCollectiveWireBytesAndCosts) {
  const TimeModel model(topk_profile());
  EXPECT_EQ(model.collective(), Collective::kAllGather);
  EXPECT_EQ(model.wire_bytes(0, 3), 8);  // half of three elements, eight bytes each
  EXPECT_EQ(model.transfer(0, 3), 1008);
  EXPECT_EQ(model.before_send(0, 3), 7);
  EXPECT_EQ(model.after_send(0, 3), 9);
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
  EXPECT_EQ(model.transfer(0, 1), 17);
}

TEST(TimeModel, PlansWithTheVariantThatIsNearestToTraining) {
  Profile profile = dense_profile();
  profile.all_reduce->beside_compute = LinearCost{6, 3};
  EXPECT_EQ(*TimeModel(profile).dense_line(), (LinearCost{6, 3}));
}

TEST(TimeModel, NamesTheCollectiveThatHasNoCost) {
  Profile profile = topk_profile();
  profile.all_gather.reset();
  const TimeModel model(profile);
  EXPECT_FALSE(model.has_cost(Collective::kAllGather));
  EXPECT_THAT([&] { model.require_cost(Collective::kAllGather, "compressor 'topk'"); },
              ThrowsMessage<UnsupportedError>(AllOf(HasSubstr("'all_gather'"), HasSubstr("topk"))));
}

TEST(TimeModel, ForwardTimesOfTensorsAddUpToThePass) {
  Profile profile = dense_profile();
  profile.tensors[2].backward_ns = 30;
  profile.tensors[0].forward_ns = 40;
  EXPECT_EQ(TimeModel(profile).forward(0), 40);
  EXPECT_EQ(TimeModel(profile).forward(1), 24) << "60 are left, shared as 20 : 30";
  EXPECT_EQ(TimeModel(profile).forward(2), 36);
  profile.tensors[1].forward_ns = 10;
  profile.tensors[2].forward_ns = 20;
  EXPECT_EQ(TimeModel(profile).forward(2), 50) << "what is left when all have one comes first";
  profile.tensors[1].forward_ns = 100;
  EXPECT_THROW(TimeModel{profile}, InputError);
}

TEST(TimeModel, RunsOfALayersTensorsAreUnits) {
  Profile profile = dense_profile();
  for (ProfileTensor& each : profile.tensors) each.layer = "fc";
  profile.tensors[0].layer = "last";
  const TimeModel model(profile);
  EXPECT_EQ(model.layer_ends(), (std::vector<std::size_t>{1, 3}));
  const TimeModel merged = model.merged(model.layer_ends());
  EXPECT_EQ(merged.tensor_count(), 2U);
  EXPECT_EQ(merged.bytes(1), 4);
  EXPECT_EQ(merged.backward(1), 20);
  EXPECT_EQ(merged.ready(1), 30);
  EXPECT_DOUBLE_EQ(merged.forward(0) + merged.forward(1), 100);
  EXPECT_EQ(merged.transfer(0, 2), model.transfer(0, 3));
  EXPECT_EQ(merged.layer_ends(), (std::vector<std::size_t>{1, 2}));
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
