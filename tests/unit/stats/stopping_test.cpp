// SPDX-License-Identifier: Apache-2.0
#include "bench/stats/stopping.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace mergewise {
namespace {

Warmup judge(const std::vector<double>& medians) { return judge_warmup(WarmupRule{}, medians); }

TEST(Warmup, GoesOnBelowTheLeastNumberOfBlocks) {
  EXPECT_EQ(judge({}), Warmup::kGoOn);
  EXPECT_EQ(judge({100}), Warmup::kGoOn);
  EXPECT_EQ(judge({100, 100}), Warmup::kGoOn);
}

TEST(Warmup, IsStableWhenTheLastTwoBlocksAgree) {
  EXPECT_EQ(judge({200, 100, 101}), Warmup::kStable);
  EXPECT_EQ(judge({200, 100, 99}), Warmup::kStable);
  EXPECT_EQ(judge({100, 100, 102}), Warmup::kGoOn) << "only the last two count";
  EXPECT_EQ(judge({200, 100, 98.9}), Warmup::kGoOn);
}

TEST(Warmup, IsUnstableAtTheMostBlocks) {
  EXPECT_EQ(judge({6, 5, 4, 3, 2}), Warmup::kGoOn);
  EXPECT_EQ(judge({6, 5, 4, 3, 2, 1}), Warmup::kUnstable);
  EXPECT_EQ(judge({6, 5, 4, 3, 2, 2}), Warmup::kStable) << "agreement in the last block counts";
}

TEST(Warmup, OneBlockNeverAgreesWithItself) {
  EXPECT_EQ(judge_warmup({0.01, 1, 2}, std::vector<double>{5}), Warmup::kGoOn);
}

Stop stop(std::size_t count, double spread, const StoppingRule& rule = {}) {
  std::vector<double> samples;
  for (std::size_t i = 0; i < count; ++i) {
    samples.push_back(100 + spread * (static_cast<double>((i * i * 7919) % 101) / 50 - 1));
  }
  return judge_stop(rule, samples, 5, 1);
}

TEST(Stopping, NeedsTheLeastNumberOfIterations) {
  EXPECT_EQ(stop(0, 0), Stop::kGoOn);
  EXPECT_EQ(stop(9, 0), Stop::kGoOn);
  EXPECT_EQ(stop(10, 0), Stop::kTarget);
}

TEST(Stopping, StopsOnceTheIntervalIsNarrowEnough) {
  EXPECT_EQ(stop(20, 0.1), Stop::kTarget);
  EXPECT_EQ(stop(12, 30), Stop::kGoOn);
}

TEST(Stopping, StopsAtTheMostIterations) {
  EXPECT_EQ(stop(50, 30, {0, 10, 50}), Stop::kMaximum);
  EXPECT_EQ(stop(49, 30, {0, 10, 50}), Stop::kGoOn);
  EXPECT_EQ(stop(50, 0.1), Stop::kTarget) << "a target that was met is the reason";
  EXPECT_EQ(stop(5, 0, {0.02, 10, 5}), Stop::kMaximum) << "also below the least number";
}

TEST(Stopping, HasNamesForFiles) {
  EXPECT_STREQ(name_of(Stop::kGoOn), "go_on");
  EXPECT_STREQ(name_of(Stop::kTarget), "target");
  EXPECT_STREQ(name_of(Stop::kMaximum), "max");
}

}  // namespace
}  // namespace mergewise
