// SPDX-License-Identifier: Apache-2.0
#include "bench/strategies/ddp.hpp"

#include "bench/core/error.hpp"
#include "tests/unit/strategies/profiles.hpp"

#include <gmock/gmock.h>

#include <string>

namespace mergewise {
namespace {

using ::testing::ElementsAre;

constexpr Bytes kMiB = Bytes{1} << 20;

std::vector<std::size_t> ends(const std::vector<Bytes>& sizes, const Options& options) {
  std::vector<test::Tensor> tensors;
  for (const Bytes bytes : sizes) tensors.push_back({bytes, 10});
  return Ddp().plan(TimeModel(test::profile_of(tensors, LinearCost{1, 1})), options).ends();
}

Options caps(std::int64_t cap) { return Options({{"cap_bytes", cap}}); }
Options caps(std::int64_t cap, std::int64_t first) {
  return Options({{"cap_bytes", cap}, {"first_cap_bytes", first}});
}

TEST(Ddp, ClosesABucketOnceItReachesItsCap) {
  EXPECT_THAT(ends({60, 40, 60, 36, 4, 4}, caps(100)), ElementsAre(2, 5, 6));
}

TEST(Ddp, NeverSplitsATensor) { EXPECT_THAT(ends({4, 1000, 4}, caps(100)), ElementsAre(2, 3)); }

TEST(Ddp, FirstBucketHasItsOwnCap) {
  EXPECT_THAT(ends({20, 60, 40, 8}, caps(100, 20)), ElementsAre(1, 3, 4));
}

TEST(Ddp, DefaultsStartWithOneMebibyte) {
  EXPECT_THAT(ends({kMiB, 24 * kMiB, kMiB, 4}, {}), ElementsAre(1, 3, 4));
}

TEST(Ddp, DefaultCapWrittenOutIsStillTheDefault) {
  EXPECT_THAT(ends({kMiB, 24 * kMiB, kMiB, 4}, caps(25 * kMiB)), ElementsAre(1, 3, 4));
}

TEST(Ddp, AnotherCapHoldsForTheFirstBucketToo) {
  EXPECT_THAT(ends({kMiB, 24 * kMiB, kMiB, 4}, caps(26 * kMiB)), ElementsAre(3, 4));
  Options automatic = caps(26 * kMiB);
  automatic.set("first_cap_bytes", std::string("auto"));
  EXPECT_THAT(ends({kMiB, 24 * kMiB, kMiB, 4}, automatic), ElementsAre(3, 4));
}

TEST(Ddp, OlderPyTorchIsAnOptionAway) {
  EXPECT_THAT(ends({kMiB, 25 * kMiB, kMiB, 4}, caps(26 * kMiB, kMiB)), ElementsAre(1, 3, 4));
}

TEST(Ddp, EmptyTensorsStayInTheOpenBucket) {
  EXPECT_THAT(ends({0, 100, 0, 0, 100, 0}, caps(100)), ElementsAre(2, 5, 6));
}

TEST(Ddp, ExplainsBordersByTheBucketAgainstItsCap) {
  const TimeModel model(test::profile_of({{20, 1}, {60, 1}, {40, 1}, {8, 1}}, LinearCost{1, 1}));
  const Decisions decisions = Ddp().explain(model, caps(100, 20)).second;
  ASSERT_EQ(decisions.size(), 3U);
  const Bytes buckets[] = {20, 60, 100};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(decisions[i].border, i + 1);
    EXPECT_EQ(decisions[i].left_value, static_cast<double>(buckets[i]));
    EXPECT_EQ(decisions[i].right_value, i == 0 ? 20 : 100);
    EXPECT_EQ(decisions[i].right, i == 0 ? "first_cap_bytes" : "cap_bytes");
    EXPECT_EQ(decisions[i].merged, i == 1);
  }
}

TEST(Ddp, RefusesCapsThatAreNoSizes) {
  EXPECT_THROW(ends({4}, caps(-1)), InputError);
  EXPECT_THROW(ends({4}, Options({{"first_cap_bytes", std::string("big")}})), InputError);
}

}  // namespace
}  // namespace mergewise
