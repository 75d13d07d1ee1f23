// SPDX-License-Identifier: Apache-2.0
// Expected values of quantiles are R's (type 7), those of the bootstrap come from an independent
// implementation in Python.
#include "bench/stats/summary.hpp"

#include "bench/stats/random.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <stdexcept>
#include <vector>

namespace mergewise {
namespace {

std::vector<double> scattered() {
  std::vector<double> samples;
  for (int i = 0; i < 20; ++i) samples.push_back((i * i * 7919) % 101);
  return samples;
}

TEST(Quantile, InterpolatesBetweenOrderStatistics) {
  const std::vector<double> samples{15, 20, 35, 40, 50};
  EXPECT_DOUBLE_EQ(quantile(samples, 0), 15);
  EXPECT_DOUBLE_EQ(quantile(samples, 0.05), 16);
  EXPECT_DOUBLE_EQ(quantile(samples, 0.3), 23);
  EXPECT_DOUBLE_EQ(quantile(samples, 0.4), 29);
  EXPECT_DOUBLE_EQ(quantile(samples, 0.5), 35);
  EXPECT_DOUBLE_EQ(quantile(samples, 0.99), 49.6);
  EXPECT_DOUBLE_EQ(quantile(samples, 1), 50);
}

TEST(Quantile, DoesNotNeedSortedSamples) {
  EXPECT_EQ(quantile(std::vector<double>{3, 1, 2}, 0.25), 1.5);
}

TEST(Quantile, OfOneSampleIsThatSample) {
  EXPECT_EQ(quantile(std::vector<double>{7}, 0), 7);
  EXPECT_EQ(quantile(std::vector<double>{7}, 0.9), 7);
}

TEST(Quantile, NeedsSamplesAndARankWithinBounds) {
  EXPECT_THROW((void)quantile({}, 0.5), std::logic_error);
  EXPECT_THROW((void)mean({}), std::logic_error);
  EXPECT_THROW((void)quantile(std::vector<double>{1}, -0.1), std::logic_error);
  EXPECT_THROW((void)quantile(std::vector<double>{1}, 1.1), std::logic_error);
}

TEST(SplitMix64, GivesThePublishedSequence) {
  SplitMix64 random(0);
  EXPECT_EQ(random.next(), 0xe220a8397b1dcdafULL);
  EXPECT_EQ(random.next(), 0x6e789e6aa1b965f4ULL);
}

TEST(SplitMix64, StaysBelowItsBoundAndReachesAllOfIt) {
  SplitMix64 random(3);
  std::vector<int> hits(7, 0);
  for (int i = 0; i < 7000; ++i) ++hits.at(random.below(7));
  for (const int count : hits) EXPECT_NEAR(count, 1000, 150);
}

TEST(Shuffle, MakesEveryOrderEquallyLikely) {
  SplitMix64 random(3);
  std::map<std::vector<std::size_t>, int> hits;
  for (int i = 0; i < 6000; ++i) {
    std::vector<std::size_t> values{0, 1, 2};
    shuffle(values, random);
    ++hits[values];
  }
  EXPECT_THAT(hits, ::testing::SizeIs(6));
  for (const auto& [order, count] : hits) EXPECT_NEAR(count, 1000, 150);
}

TEST(BootstrapMedian, GivesTheSameIntervalOnEveryMachine) {
  const std::vector<double> samples = scattered();
  const Interval interval = bootstrap_median(samples, 5, 1);
  EXPECT_DOUBLE_EQ(interval.low, 51.5);
  EXPECT_DOUBLE_EQ(interval.high, 64);
  EXPECT_EQ(interval.confidence, 0.95);
  const Interval other_seed = bootstrap_median(samples, 5, 2);
  EXPECT_DOUBLE_EQ(other_seed.low, 50);
  const Interval single = bootstrap_median(samples, 1, 1);
  EXPECT_DOUBLE_EQ(single.low, 42);
  EXPECT_DOUBLE_EQ(single.high, 62.5);
  const Interval cut_blocks = bootstrap_median(samples, 3, 42, 0.9, 200);
  EXPECT_DOUBLE_EQ(cut_blocks.low, 49.975);
  EXPECT_DOUBLE_EQ(cut_blocks.high, 63);
}

TEST(BootstrapMedian, IsTheWholeRangeWithFewerThanTwoBlocks) {
  const std::vector<double> samples{5, 1, 9, 3, 4};
  const Interval interval = bootstrap_median(samples, 3, 1);
  EXPECT_EQ(interval.low, 1);
  EXPECT_EQ(interval.high, 9);
}

TEST(BootstrapMedian, OfEqualSamplesHasNoWidth) {
  const Interval interval = bootstrap_median(std::vector<double>(12, 4.5), 3, 1);
  EXPECT_EQ(interval.low, 4.5);
  EXPECT_EQ(interval.high, 4.5);
}

TEST(BootstrapMedian, IsWiderWhenNeighboursAreAlike) {
  // Runs of five equal samples: single draws take them for twenty independent ones.
  std::vector<double> samples;
  for (const double level : {10.0, 30.0, 20.0, 50.0, 40.0, 25.0})
    samples.insert(samples.end(), 5, level);
  const Interval blocks = bootstrap_median(samples, 5, 1);
  const Interval singles = bootstrap_median(samples, 1, 1);
  EXPECT_GT(blocks.high - blocks.low, singles.high - singles.low);
}

TEST(BootstrapMedian, CoversTheMedianAsOftenAsItSays) {
  int covered = 0;
  SplitMix64 random(11);
  for (int round = 0; round < 100; ++round) {
    std::vector<double> samples;
    for (int i = 0; i < 40; ++i) samples.push_back(static_cast<double>(random.below(1'000'001)));
    const Interval interval =
        bootstrap_median(samples, 1, static_cast<std::uint64_t>(round), 0.95, 200);
    if (interval.low <= 500'000 && 500'000 <= interval.high) ++covered;
  }
  EXPECT_GE(covered, 90);
}

TEST(BootstrapMedianRatio, IsDeterministicAndHoldsTheRatioOfTheMedians) {
  std::vector<double> over;
  std::vector<double> under;
  for (const double sample : scattered()) {
    under.push_back(1000 + sample);
    over.push_back(1.2 * (1000 + sample));
  }
  const Interval interval = bootstrap_median_ratio(over, under, 5, 1);
  EXPECT_LT(interval.low, 1.2);
  EXPECT_GT(interval.high, 1.2);
  EXPECT_EQ(interval.confidence, 0.95);
  EXPECT_EQ(bootstrap_median_ratio(over, under, 5, 1).low, interval.low);
  EXPECT_NE(bootstrap_median_ratio(over, under, 5, 2).low, interval.low);
}

TEST(BootstrapMedianRatio, AgainstAConstantIsTheIntervalOfTheMedian) {
  // Both draw the same number of blocks in turn, so only the distribution can be compared.
  const std::vector<double> samples = scattered();
  const Interval ratio =
      bootstrap_median_ratio(samples, std::vector<double>(10, 2.0), 5, 1, 0.95, 20'000);
  const Interval median = bootstrap_median(samples, 5, 1, 0.95, 20'000);
  EXPECT_NEAR(ratio.low, median.low / 2, 1);
  EXPECT_NEAR(ratio.high, median.high / 2, 1);
}

TEST(BootstrapMedianRatio, OfEqualSamplesHasNoWidth) {
  const Interval interval =
      bootstrap_median_ratio(std::vector<double>(12, 3.0), std::vector<double>(20, 4.0), 3, 1);
  EXPECT_EQ(interval.low, 0.75);
  EXPECT_EQ(interval.high, 0.75);
}

TEST(BootstrapMedianRatio, IsTheWholeRangeWithFewerThanTwoBlocksOfEither) {
  const std::vector<double> few{2, 4};
  const std::vector<double> many{1, 1, 1, 1, 2, 2, 2, 2};
  EXPECT_EQ(bootstrap_median_ratio(few, many, 2, 1).low, 1);
  EXPECT_EQ(bootstrap_median_ratio(few, many, 2, 1).high, 4);
  EXPECT_EQ(bootstrap_median_ratio(many, few, 2, 1).low, 0.25);
  EXPECT_EQ(bootstrap_median_ratio(many, few, 2, 1).high, 1);
  EXPECT_THROW((void)bootstrap_median_ratio({}, many, 2, 1), std::logic_error);
}

TEST(BootstrapMedianRatio, CoversTheRatioAsOftenAsItSays) {
  int covered = 0;
  SplitMix64 random(5);
  for (int round = 0; round < 100; ++round) {
    std::vector<double> over;
    std::vector<double> under;
    for (int i = 0; i < 40; ++i) {
      over.push_back(1100 + static_cast<double>(random.below(101)));
      under.push_back(950 + static_cast<double>(random.below(101)));
    }
    const Interval interval =
        bootstrap_median_ratio(over, under, 1, static_cast<std::uint64_t>(round), 0.95, 200);
    if (interval.low <= 1.15 && 1.15 <= interval.high) ++covered;
  }
  EXPECT_GE(covered, 90);
}

TEST(Summary, HoldsAllItsParts) {
  const Summary summary = summarize(scattered(), 5, 1);
  EXPECT_EQ(summary.count, 20U);
  EXPECT_EQ(summary.median, 56);
  EXPECT_DOUBLE_EQ(summary.mean, 53.9);
  EXPECT_EQ(summary.minimum, 0);
  EXPECT_DOUBLE_EQ(summary.p95, 93.3);
  EXPECT_DOUBLE_EQ(summary.p99, 97.86);
  EXPECT_DOUBLE_EQ(summary.interval.low, 51.5);
}

TEST(RelativeHalfWidth, IsRelativeToTheMiddle) {
  EXPECT_DOUBLE_EQ(relative_half_width({98, 102, 0.95}, 100), 0.02);
  EXPECT_EQ(relative_half_width({0, 0, 0.95}, 0), 0);
  EXPECT_EQ(relative_half_width({-1, 1, 0.95}, 0), std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace mergewise
