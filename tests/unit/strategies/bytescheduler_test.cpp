// SPDX-License-Identifier: Apache-2.0
#include "bench/strategies/bytescheduler.hpp"

#include "bench/core/error.hpp"
#include "tests/unit/strategies/profiles.hpp"

#include <gmock/gmock.h>

#include <string>

namespace mergewise {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Options chunks(std::int64_t partition, std::int64_t credit) {
  return Options({{"partition", partition}, {"credit", credit}});
}

TEST(Bytescheduler, SendsEveryTensorAloneInChunksBeforeTheNextForwardPass) {
  const TimeModel model(test::profile_of({{40, 10}, {0, 10}, {8, 10}}, LinearCost{1, 1}));
  const MergePlan plan = Bytescheduler().plan(model, chunks(16, 32));
  EXPECT_THAT(plan.ends(), ElementsAre(1, 2, 3));
  for (const Group& group : plan.groups) {
    EXPECT_EQ(group.collective, Collective::kAllReduce);
    EXPECT_EQ(group.release, Release{BeforeForward{}});
  }
  EXPECT_EQ(plan.chunking, (Chunking{16, 32}));
}

TEST(Bytescheduler, DefaultsAreThoseSuggestedForAllReduce) {
  const TimeModel model(test::profile_of({{40, 10}}, LinearCost{1, 1}));
  EXPECT_EQ(Bytescheduler().plan(model, {}).chunking, (Chunking{32'000'000, 64'000'000}));
}

TEST(Bytescheduler, CutsWholeLayersWhereTheyAreTheUnit) {
  Profile profile = test::profile_of({{40, 10}, {8, 10}, {8, 10}}, LinearCost{1, 1});
  profile.tensors[0].layer = profile.tensors[1].layer = "a";
  Options options = chunks(16, 32);
  options.set("unit", std::string("layer"));
  EXPECT_THAT(Bytescheduler().plan(TimeModel(profile), options).ends(), ElementsAre(2, 3));
}

TEST(Bytescheduler, RefusesSizesThatAreNone) {
  const TimeModel model(test::profile_of({{40, 10}}, LinearCost{1, 1}));
  EXPECT_THROW(static_cast<void>(Bytescheduler().plan(model, chunks(0, 8))), InputError);
  EXPECT_THROW(static_cast<void>(Bytescheduler().plan(model, chunks(8, 0))), InputError);
}

TEST(Bytescheduler, SendsDenseGradientsOnlyAndIsSimulatedOnly) {
  Profile profile = test::profile_of({{40, 10}}, LinearCost{1, 1});
  profile.compressor = "fp16";
  profile.compressors["fp16"] = {};
  EXPECT_THAT([&] { static_cast<void>(Bytescheduler().plan(TimeModel(profile), {})); },
              ThrowsMessage<UnsupportedError>(HasSubstr("dense gradients only")));
  EXPECT_FALSE(Bytescheduler().replayable());
  EXPECT_FALSE(Bytescheduler().within_optimal());
}

TEST(Bytescheduler, SaysAtEveryBorderWhyItIsOne) {
  const TimeModel model(test::profile_of({{40, 10}, {8, 10}, {8, 10}}, LinearCost{1, 1}));
  const auto [plan, decisions] = Bytescheduler().explain(model, {});
  ASSERT_EQ(decisions.size(), 2U);
  EXPECT_EQ(decisions[1].border, 2U);
  EXPECT_FALSE(decisions[1].merged);
  EXPECT_FALSE(decisions[1].why.empty());
  EXPECT_TRUE(decisions[1].left.empty());
}

TEST(Bytescheduler, TakesForwardPlusBackwardWhereTheNetworkCostsNothing) {
  test::Random random(40);
  for (int round = 0; round < 100; ++round) {
    const auto tensors = random.tensors(static_cast<std::size_t>(random.integer(1, 60)), {});
    const TimeModel model(test::profile_of(tensors, CostModel{}));
    const Bytes total = test::total_bytes(tensors);
    const Options options = chunks(1 + total / random.integer(1, 100), random.integer(1, total));
    const Nanoseconds compute = model.forward() + model.ready(model.tensor_count() - 1);
    EXPECT_NEAR(predict_iteration(model, Bytescheduler().plan(model, options)), compute,
                1e-12 * compute);
  }
}

TEST(Bytescheduler, IsNeverSlowerThanWaitingForAllBeforeTheForwardPass) {
  // Without start-up costs chunks cost no more than tensors, and the lane is never idle while one
  // waits.
  test::Random random(41);
  for (int round = 0; round < 100; ++round) {
    const auto tensors = random.tensors(static_cast<std::size_t>(random.integer(1, 60)), {});
    const TimeModel model(test::profile_of(tensors, LinearCost{0, 1}));
    const Bytes total = test::total_bytes(tensors);
    const Options options = chunks(1 + total / random.integer(1, 100), random.integer(1, total));
    std::vector<std::size_t> each;
    for (std::size_t end = 1; end <= tensors.size(); ++end) each.push_back(end);
    const Nanoseconds waiting = predict_iteration(model, plan_from_ends("wfbp", each));
    EXPECT_LE(predict_iteration(model, Bytescheduler().plan(model, options)),
              waiting * (1 + 1e-12));
  }
}

}  // namespace
}  // namespace mergewise
