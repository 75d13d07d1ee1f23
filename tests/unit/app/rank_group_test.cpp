// SPDX-License-Identifier: Apache-2.0
#include "bench/app/rank_group.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mergewise {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

MeasuredVariant up_to(CostVariant variant, Bytes largest) {
  MeasuredVariant measured{variant, {}};
  for (Bytes bytes = 4; bytes <= largest; bytes *= 2) {
    const double ns = 1000 + static_cast<double>(bytes);
    measured.points.push_back({bytes, ns, ns, ns, 3});
  }
  return measured;
}

TEST(RankGroup, KeepsOneCostAndOneRecordForEachVariant) {
  RankGroup group;
  group.ranks = 4;
  keep_costs(group, Collective::kAllGather,
             {{up_to(CostVariant::kIsolated, 4096), up_to(CostVariant::kBackToBack, 4096)}});
  ASSERT_TRUE(group.costs.all_gather.has_value());
  EXPECT_TRUE(group.costs.all_gather->isolated.has_value());
  EXPECT_TRUE(group.costs.all_gather->back_to_back.has_value());
  EXPECT_FALSE(group.costs.all_gather->beside_compute.has_value());
  EXPECT_FALSE(group.costs.all_reduce.has_value());
  EXPECT_THAT(group.calibrations, SizeIs(2));
}

TEST(RankGroup, MeasuringAgainReplacesWhatWasThere) {
  RankGroup group;
  keep_costs(group, Collective::kAllReduce, {{up_to(CostVariant::kIsolated, 4096)}});
  keep_costs(group, Collective::kAllGather, {{up_to(CostVariant::kIsolated, 4096)}});
  keep_costs(group, Collective::kAllReduce, {{up_to(CostVariant::kBackToBack, 4096)}});
  EXPECT_FALSE(group.costs.all_reduce->isolated.has_value());
  EXPECT_THAT(group.calibrations, SizeIs(2));
}

TEST(RankGroup, AVariantThatWasCutShortIsRecordedButNotUsed) {
  RankGroup group;
  keep_costs(group, Collective::kAllReduce,
             {{up_to(CostVariant::kBackToBack, 1 << 20), up_to(CostVariant::kBesideCompute, 64)}});
  EXPECT_STREQ(group.costs.all_reduce->planning_variant(), "back_to_back");
  ASSERT_THAT(group.calibrations, SizeIs(2));
  EXPECT_EQ(group.calibrations[1].used, "nothing");
  EXPECT_THAT(group.calibrations[1].why, HasSubstr("64 B"));
  keep_costs(
      group, Collective::kAllReduce,
      {{up_to(CostVariant::kBackToBack, 1 << 20), up_to(CostVariant::kBesideCompute, 1 << 16)}});
  EXPECT_STREQ(group.costs.all_reduce->planning_variant(), "beside_compute");
}

TEST(RankGroup, NoPointsAreNoCost) {
  RankGroup group;
  keep_costs(group, Collective::kReduceScatter, {{{CostVariant::kIsolated, {}}}});
  EXPECT_FALSE(group.costs.reduce_scatter.has_value());
  EXPECT_THAT(group.calibrations, SizeIs(0));
}

}  // namespace
}  // namespace mergewise
