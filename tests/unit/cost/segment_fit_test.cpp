// SPDX-License-Identifier: Apache-2.0
#include "bench/core/error.hpp"
#include "bench/cost/fit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

namespace mergewise {
namespace {

using ::testing::DoubleNear;
using ::testing::SizeIs;

// A range of sizes and the line on it.
struct Piece {
  Bytes from;
  Bytes to;
  LinearCost line;
};

const std::vector<Piece> kThree{
    {4, 8192, {80e3, 12}}, {12288, 524288, {900e3, 2.5}}, {1 << 20, 1 << 28, {3e6, 1.7}}};

// Sizes from each piece's first to its last by a factor, times with this relative noise.
MeasuredPoints sample(const std::vector<Piece>& pieces, double factor, double noise,
                      unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> error(0, 1);
  MeasuredPoints points;
  for (const Piece& piece : pieces) {
    for (auto size = static_cast<double>(piece.from); size < static_cast<double>(piece.to) * 1.01;
         size *= factor) {
      const auto bytes = std::llround(size);
      points.emplace_back(bytes, piece.line.at(bytes) * (1 + noise * error(random)));
    }
  }
  return points;
}

TEST(SegmentFit, OnePieceIsTheLineOfTheLineFit) {
  const MeasuredPoints points = sample({{4, 1 << 28, {22e6, 15.1}}}, 2, 0);
  const SegmentedFit fit = fit_segments(points);
  ASSERT_THAT(fit.segments, SizeIs(1));
  EXPECT_EQ(fit.segments[0].line, fit_line(points).line);
  EXPECT_EQ(fit.cost(), CostModel(fit_line(points).line));
  EXPECT_EQ(fit.segments[0].from, 4);
  EXPECT_EQ(fit.segments[0].to, 1 << 28);
  EXPECT_LT(fit.largest_error, 1e-9);
  EXPECT_NEAR(fit.r_squared, 1, 1e-9);
}

TEST(SegmentFit, FindsThePiecesThatPointsLieOn) {
  const SegmentedFit fit = fit_segments(sample(kThree, 2, 0));
  ASSERT_THAT(fit.segments, SizeIs(3));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(fit.segments[i].from, kThree[i].from);
    EXPECT_NEAR(fit.segments[i].line.a_ns, kThree[i].line.a_ns, 1e-6 * kThree[i].line.a_ns);
    EXPECT_NEAR(fit.segments[i].line.b_ns_per_byte, kThree[i].line.b_ns_per_byte, 1e-6);
  }
  EXPECT_LT(fit.largest_error, 1e-9);
}

TEST(SegmentFit, FindsThemThroughNoise) {
  for (const unsigned seed : {1U, 2U, 3U, 4U, 5U}) {
    const MeasuredPoints points = sample(kThree, 1.25, 0.02, seed);
    const SegmentedFit fit = fit_segments(points);
    ASSERT_THAT(fit.segments, SizeIs(3)) << "seed " << seed;
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(fit.segments[i].from, kThree[i].from) << "seed " << seed;
      const Bytes last = fit.segments[i].to;
      EXPECT_NEAR(fit.segments[i].line.at(last) / kThree[i].line.at(last), 1, 0.03);
    }
    EXPECT_LT(fit.largest_error, 0.1);
  }
}

TEST(SegmentFit, SeesNoPiecesInNoiseAroundOneLine) {
  int more_than_one = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    const MeasuredPoints points = sample({{4, 1 << 28, {1e6, 1}}}, 1.6, 0.03, seed);
    if (fit_segments(points).segments.size() > 1) ++more_than_one;
  }
  RecordProperty("more_than_one", more_than_one);
  EXPECT_LE(more_than_one, 20) << "of 200";
}

TEST(SegmentFit, KeepsAJumpAJump) {
  const SegmentedFit fit = fit_segments(sample(kThree, 2, 0));
  const CostModel cost = fit.cost();
  EXPECT_NEAR(cost(8192), kThree[0].line.at(8192), 1);
  EXPECT_NEAR(cost(12288), kThree[1].line.at(12288), 1);
  EXPECT_NEAR(cost(10240), (cost(8192) + cost(12288)) / 2, 1) << "nothing was measured between";
  EXPECT_NEAR(cost(1 << 29), kThree[2].line.at(1 << 29), 10) << "the last line goes on";
}

TEST(SegmentFit, CostNeverFallsWhereASegmentBeginsLower) {
  // Another algorithm takes over and is faster.
  const std::vector<Piece> faster{{1024, 65536, {10e3, 10}}, {131072, 1 << 24, {100e3, 1}}};
  const SegmentedFit fit = fit_segments(sample(faster, 1.4, 0));
  ASSERT_THAT(fit.segments, SizeIs(2));
  EXPECT_LT(fit.segments[1].line.at(fit.segments[1].from),
            fit.segments[0].line.at(fit.segments[0].to));
  const CostModel cost = fit.cost();
  double before = 0;
  for (Bytes bytes = 1024; bytes <= 1 << 24; bytes += 1021) {
    ASSERT_GE(cost(bytes), before) << bytes;
    before = cost(bytes);
  }
  EXPECT_GT(fit.largest_error, 0.1) << "the errors are those of what is used";
}

TEST(SegmentFit, AllowsASteepPieceAwayFromTheOrigin) {
  // Its line would cross zero far below its first size.
  const std::vector<Piece> steep{{1024, 65536, {100e3, 1}}, {131072, 1 << 24, {-600e3, 8}}};
  const SegmentedFit fit = fit_segments(sample(steep, 1.4, 0));
  ASSERT_THAT(fit.segments, SizeIs(2));
  EXPECT_NEAR(fit.segments[1].line.a_ns, -600e3, 1);
  EXPECT_LT(fit.largest_error, 1e-9);
}

TEST(SegmentFit, HasThreeSizesInEverySegment) {
  // Five points with a jump after the second: no two segments have three sizes each.
  const MeasuredPoints five{{1, 10}, {2, 10}, {3, 90}, {4, 90}, {5, 90}};
  EXPECT_THAT(fit_segments(five).segments, SizeIs(1));
  const MeasuredPoints repeated{{1, 10}, {1, 10}, {1, 10}, {2, 10}, {2, 10},
                                {3, 90}, {3, 90}, {4, 90}, {5, 90}};
  EXPECT_THAT(fit_segments(repeated).segments, SizeIs(1)) << "sizes count, not points";
  const MeasuredPoints six{{1, 10}, {2, 10}, {3, 10}, {4, 90}, {5, 90}, {6, 90}};
  EXPECT_THAT(fit_segments(six).segments, SizeIs(2));
}

TEST(SegmentFit, TakesNoSlopeFromANarrowRangeOfSizes) {
  // The last five sizes lie within 2 % of each other, and on a line of their own.
  MeasuredPoints points = sample({{1024, 1 << 20, {100e3, 1}}}, 1.2, 0);
  for (Bytes bytes = 1'100'000; bytes < 1'125'000; bytes += 5'000) {
    points.emplace_back(bytes, 1.2e6 + 20 * static_cast<double>(bytes - 1'100'000));
  }
  const SegmentedFit fit = fit_segments(points);
  EXPECT_LT(fit.segments.back().line.b_ns_per_byte, 2) << "it goes on beyond the last size";
}

TEST(SegmentFit, IsTheSameForPointsInAnyOrder) {
  MeasuredPoints points = sample(kThree, 1.5, 0.02);
  const CostModel ordered = fit_segments(points).cost();
  std::mt19937 random(7);
  std::shuffle(points.begin(), points.end(), random);
  EXPECT_EQ(fit_segments(points).cost(), ordered);
}

TEST(SegmentFit, KeepsRepeatedSizesTogether) {
  MeasuredPoints points = sample(kThree, 2, 0.01, 1);
  for (const auto& point : sample(kThree, 2, 0.01, 2)) points.push_back(point);
  const SegmentedFit fit = fit_segments(points);
  ASSERT_THAT(fit.segments, SizeIs(3));
  EXPECT_LT(fit.segments[0].to, fit.segments[1].from);
  EXPECT_LT(fit.segments[1].to, fit.segments[2].from);
}

TEST(SegmentFit, GoesNoFurtherThanItIsAllowed) {
  const MeasuredPoints points = sample(kThree, 2, 0);
  EXPECT_THAT(fit_segments(points, 1).segments, SizeIs(1));
  EXPECT_THAT(fit_segments(points, 2).segments, SizeIs(2));
}

TEST(SegmentFit, IsConstantForConstantTimes) {
  const SegmentedFit fit = fit_segments(sample({{4, 1 << 20, {5e3, 0}}}, 2, 0));
  ASSERT_THAT(fit.segments, SizeIs(1));
  EXPECT_NEAR(fit.cost()(1 << 30), 5e3, 1e-6);
  EXPECT_LT(fit.largest_error, 1e-12);
}

TEST(SegmentFit, TakesTwoPoints) {
  const SegmentedFit fit = fit_segments({{200, 400}, {100, 300}});
  ASSERT_THAT(fit.segments, SizeIs(1));
  EXPECT_THAT(fit.segments[0].line.a_ns, DoubleNear(200, 1e-9));
  EXPECT_THAT(fit.segments[0].line.b_ns_per_byte, DoubleNear(1, 1e-9));
}

TEST(SegmentFit, RefusesWhatNoLineFits) {
  EXPECT_THROW((void)fit_segments({}), InputError);
  EXPECT_THROW((void)fit_segments({{5, 1}, {5, 2}, {5, 3}}), InputError);
  EXPECT_THROW((void)fit_segments({{0, 1}, {2, 2}}), InputError);
}

}  // namespace
}  // namespace mergewise
