// SPDX-License-Identifier: Apache-2.0
#include "bench/strategies/dear.hpp"

#include "bench/core/error.hpp"
#include "tests/unit/strategies/profiles.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <string>

namespace mergewise {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

constexpr Bytes kMiB = Bytes{1} << 20;

Profile profile_of(const std::vector<test::Tensor>& tensors) {
  Profile profile = test::profile_of(tensors, LinearCost{1, 1});
  profile.all_reduce.reset();
  profile.reduce_scatter.emplace().isolated = LinearCost{1, 1};
  profile.all_gather.emplace().isolated = LinearCost{1, 1};
  profile.ranks = 4;
  return profile;
}

Profile sizes(const std::vector<Bytes>& bytes) {
  std::vector<test::Tensor> tensors;
  for (const Bytes size : bytes) tensors.push_back({size, 10});
  return profile_of(tensors);
}

Options cap(std::int64_t bytes) { return Options({{"cap_bytes", bytes}}); }

std::vector<std::size_t> ends(const Profile& profile, const Options& options) {
  return Dear().plan(TimeModel(profile), options).ends();
}

TEST(Dear, FormsGroupsInForwardOrderBelowTheCap) {
  EXPECT_THAT(ends(sizes({60, 20, 40, 40, 16}), cap(100)), ElementsAre(2, 5));
  // In ready order the first two would fit together.
  EXPECT_THAT(ends(sizes({20, 40, 40, 16}), cap(100)), ElementsAre(1, 4));
}

TEST(Dear, ClosesAGroupBeforeALayerThatWouldReachTheCap) {
  EXPECT_THAT(ends(sizes({60, 40}), cap(100)), ElementsAre(1, 2));
  EXPECT_THAT(ends(sizes({56, 40}), cap(100)), ElementsAre(2));
}

TEST(Dear, ALayerAboveTheCapGoesAlone) {
  EXPECT_THAT(ends(sizes({4, 1000, 4}), cap(100)), ElementsAre(1, 2, 3));
}

TEST(Dear, CapOfZeroSendsEveryLayerAlone) {
  EXPECT_THAT(ends(sizes({4, 0, 4}), cap(0)), ElementsAre(1, 2, 3));
}

TEST(Dear, DefaultCapIs25Mebibytes) {
  EXPECT_THAT(ends(sizes({kMiB, 12 * kMiB, 12 * kMiB}), {}), ElementsAre(1, 3));
}

TEST(Dear, NeverSplitsALayer) {
  Profile profile = sizes({40, 40, 40, 40});
  for (const std::size_t i : {1U, 2U}) profile.tensors[i].layer = "a";
  EXPECT_THAT(ends(profile, cap(100)), ElementsAre(1, 3, 4));
  Options by_layer = cap(100);
  by_layer.set("unit", std::string("layer"));
  EXPECT_EQ(ends(profile, by_layer), ends(profile, cap(100)));
}

TEST(Dear, ReducesInReadyOrderAndGathersInForwardOrder) {
  const MergePlan plan = Dear().plan(TimeModel(sizes({60, 40, 40})), cap(100));
  EXPECT_THAT(plan.groups,
              ElementsAre(Group{0, 1, Collective::kReduceScatter, WhenReady{}},
                          Group{1, 3, Collective::kReduceScatter, WhenReady{}},
                          Group{1, 3, Collective::kAllGather, BeforeForward{}},
                          Group{0, 1, Collective::kAllGather, BeforeForward{std::size_t{2}}}));
}

TEST(Dear, PrefetchAllGathersBackToBack) {
  Options options = cap(0);
  options.set("prefetch", std::string("all"));
  for (const Group& group : Dear().plan(TimeModel(sizes({4, 4, 4})), options).groups) {
    if (group.collective == Collective::kAllGather) {
      EXPECT_EQ(group.release, Release{BeforeForward{}});
    }
  }
  options.set("prefetch", std::int64_t{2});
  EXPECT_THROW(static_cast<void>(Dear().plan(TimeModel(sizes({4})), options)), InputError);
}

TEST(Dear, ExplainsEveryLayerBySizesAgainstTheCap) {
  Profile profile = sizes({60, 40, 40, 16});
  profile.tensors[1].layer = profile.tensors[2].layer = "a";
  const auto [plan, decisions] = Dear().explain(TimeModel(profile), cap(100));
  EXPECT_EQ(plan, Dear().plan(TimeModel(profile), cap(100)));
  ASSERT_EQ(decisions.size(), 2U);
  EXPECT_EQ(decisions[0].border, 1U);
  EXPECT_FALSE(decisions[0].merged);
  EXPECT_EQ(decisions[0].left_value, 156);
  EXPECT_EQ(decisions[0].right_value, 100);
  EXPECT_EQ(decisions[1].border, 3U);
  EXPECT_TRUE(decisions[1].merged);
  EXPECT_EQ(decisions[1].left_value, 96);
  EXPECT_EQ(decisions[1].unit, "bytes");
  EXPECT_THAT(Dear().explain(TimeModel(sizes({4})), {}).second, IsEmpty());
}

TEST(Dear, NamesWhatTheProfileLacks) {
  const auto planning = [](const Profile& profile) {
    return [profile] { static_cast<void>(Dear().plan(TimeModel(profile), {})); };
  };
  Profile profile = sizes({4});
  profile.ranks.reset();
  EXPECT_THAT(planning(profile), ThrowsMessage<UnsupportedError>(HasSubstr("'ranks'")));
  profile = sizes({4});
  profile.reduce_scatter.reset();
  EXPECT_THAT(planning(profile), ThrowsMessage<UnsupportedError>(HasSubstr("'reduce_scatter'")));
  profile = sizes({4});
  profile.all_gather.reset();
  EXPECT_THAT(planning(profile), ThrowsMessage<UnsupportedError>(HasSubstr("'all_gather'")));
  profile = sizes({4});
  profile.compressor = "topk";
  profile.compressors["topk"] = {};
  EXPECT_THAT(planning(profile),
              ThrowsMessage<UnsupportedError>(HasSubstr("'dear' sends dense gradients only")));
}

TEST(Dear, IsNotHeldAgainstTheOptimum) {
  EXPECT_FALSE(Dear().within_optimal());
  EXPECT_TRUE(Dear().replayable());
}

// Properties over random profiles.

Options random_options(test::Random& random, Bytes total) {
  Options options = cap(random.integer(0, total));
  if (random.one_in(2)) options.set("prefetch", std::string("all"));
  return options;
}

TEST(Dear, TakesForwardPlusBackwardWhereTheNetworkCostsNothing) {
  test::Random random(30);
  for (int round = 0; round < 100; ++round) {
    const auto tensors = random.tensors(static_cast<std::size_t>(random.integer(1, 60)), {});
    Profile profile = profile_of(tensors);
    profile.reduce_scatter->isolated = CostModel{};
    profile.all_gather->isolated = CostModel{};
    const TimeModel model(profile);
    const MergePlan plan = Dear().plan(model, random_options(random, test::total_bytes(tensors)));
    const Nanoseconds compute = model.forward() + model.ready(model.tensor_count() - 1);
    EXPECT_NEAR(predict_iteration(model, plan), compute, 1e-12 * compute);
  }
}

TEST(Dear, IsNeverSlowerWithMoreBandwidth) {
  test::Random random(31);
  for (int round = 0; round < 200; ++round) {
    const auto tensors = random.tensors(static_cast<std::size_t>(random.integer(1, 60)), {});
    Profile profile = profile_of(tensors);
    const Options options = random_options(random, test::total_bytes(tensors));
    LinearCost reduce = random.line({});
    LinearCost gather = random.line({});
    Nanoseconds before = std::numeric_limits<double>::infinity();
    for (int faster = 0; faster < 4; ++faster) {
      profile.reduce_scatter->isolated = reduce;
      profile.all_gather->isolated = gather;
      const TimeModel model(profile);
      const Nanoseconds now = predict_iteration(model, Dear().plan(model, options));
      EXPECT_LE(now, before);
      before = now;
      (random.one_in(2) ? reduce : gather).b_ns_per_byte /= 2;
    }
  }
}

TEST(Dear, PrefetchingAllIsNeverSlower) {
  test::Random random(32);
  for (int round = 0; round < 100; ++round) {
    const auto tensors = random.tensors(static_cast<std::size_t>(random.integer(1, 60)), {});
    Profile profile = profile_of(tensors);
    profile.all_gather->isolated = random.line({});
    const TimeModel model(profile);
    Options options = cap(random.integer(0, test::total_bytes(tensors)));
    const Nanoseconds one = predict_iteration(model, Dear().plan(model, options));
    options.set("prefetch", std::string("all"));
    EXPECT_LE(predict_iteration(model, Dear().plan(model, options)), one);
  }
}

}  // namespace
}  // namespace mergewise
