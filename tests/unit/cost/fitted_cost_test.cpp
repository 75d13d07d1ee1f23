// SPDX-License-Identifier: Apache-2.0
#include "bench/core/error.hpp"
#include "bench/cost/fit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace mergewise {
namespace {

using ::testing::HasSubstr;

// A line with every second point off it by this much, up and down in turn.
MeasuredPoints around_a_line(double off, Bytes smallest = 4) {
  MeasuredPoints points;
  double sign = 1;
  for (Bytes bytes = smallest; bytes <= 1 << 20; bytes *= 2, sign = -sign) {
    points.emplace_back(bytes, (1000 + static_cast<double>(bytes)) * (1 + sign * off));
  }
  return points;
}

// Two lines with a jump between, every second point off.
MeasuredPoints with_a_jump(double off, Bytes smallest = 4) {
  MeasuredPoints points = around_a_line(off, smallest);
  for (auto& [bytes, ns] : points) {
    if (bytes > 4096) ns *= 5;
  }
  return points;
}

TEST(FittedCost, TakesALineThatIsWithinFivePercentOfEveryPoint) {
  const FittedCost fitted = fit_cost(around_a_line(0.04));
  EXPECT_EQ(fitted.form, "line");
  EXPECT_EQ(fitted.cost, CostModel(fitted.line->line));
  EXPECT_THAT(fitted.why, HasSubstr("within"));
}

TEST(FittedCost, TakesSegmentsThatAreWithinTenPercentWhenTheLineIsNotGood) {
  const FittedCost fitted = fit_cost(with_a_jump(0.06));
  EXPECT_EQ(fitted.form, "segments");
  EXPECT_EQ(fitted.cost, fitted.segments->cost());
  EXPECT_THAT(fitted.why, HasSubstr("2 segments"));
}

TEST(FittedCost, TakesThePointsWhenNoFitIsGood) {
  // From there on they rise in spite of their errors.
  const Bytes smallest = 2048;
  for (const MeasuredPoints& points : {around_a_line(0.2, smallest), with_a_jump(0.2, smallest)}) {
    const FittedCost fitted = fit_cost(points);
    EXPECT_EQ(fitted.form, "points");
    EXPECT_EQ(fitted.cost, CostModel(MeasuredCost{points}));
    EXPECT_GT(fitted.line->largest_error, 0.1) << "the fits are told all the same";
  }
}

TEST(FittedCost, ReplacesPointsThatFallByTheirGeometricMean) {
  const FittedCost fitted = fit_cost({{4, 100}, {8, 900}, {16, 100}, {32, 1000}, {64, 800}});
  ASSERT_EQ(fitted.form, "points");
  EXPECT_EQ(fitted.cost(4), 100);
  EXPECT_NEAR(fitted.cost(8), 300, 1e-9);
  EXPECT_NEAR(fitted.cost(16), 300, 1e-9);
  EXPECT_NEAR(fitted.cost(32), std::sqrt(800e3), 1e-9);
  EXPECT_NEAR(fitted.cost(64), std::sqrt(800e3), 1e-9);
}

TEST(FittedCost, LetsOneSlowSizeRaiseLargerOnesByItsShareOnly) {
  MeasuredPoints points;
  for (Bytes bytes = 4; bytes <= 4096; bytes *= 2) points.emplace_back(bytes, 100);
  points[2].second = 1000;
  const FittedCost fitted = fit_cost(points);
  ASSERT_EQ(fitted.form, "points");
  EXPECT_EQ(fitted.cost(8), 100);
  EXPECT_NEAR(fitted.cost(4096), 100 * std::pow(10, 1.0 / 9), 1e-9) << "nine sizes share it";
}

// The least squares of log(table / point) of a table whose pieces begin where a bit of `borders` is
// set; infinite where it falls.
double squares_of_pools(const MeasuredPoints& points, std::size_t borders) {
  double squares = 0;
  double before = -std::numeric_limits<double>::infinity();
  for (std::size_t begin = 0; begin < points.size();) {
    std::size_t end = begin + 1;
    while (end < points.size() && ((borders >> (end - 1)) & 1U) == 0) ++end;
    double mean = 0;
    for (std::size_t i = begin; i < end; ++i) {
      mean += std::log(points[i].second) / static_cast<double>(end - begin);
    }
    if (mean < before) return std::numeric_limits<double>::infinity();
    for (std::size_t i = begin; i < end; ++i) {
      squares += std::pow(std::log(points[i].second) - mean, 2);
    }
    before = mean;
    begin = end;
  }
  return squares;
}

TEST(FittedCost, TakesTheRisingTableOfLeastRelativeError) {
  std::mt19937 random(1);
  std::uniform_int_distribution<int> time(1, 20);
  int tables = 0;
  for (int round = 0; round < 200; ++round) {
    MeasuredPoints points;
    for (Bytes bytes = 4; bytes <= 512; bytes *= 2) points.emplace_back(bytes, time(random));
    const FittedCost fitted = fit_cost(points);
    if (fitted.form != "points") continue;
    ++tables;
    double squares = 0;
    for (const auto& [bytes, ns] : points) {
      squares += std::pow(std::log(fitted.cost(bytes) / ns), 2);
    }
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t borders = 0; borders < 128; ++borders) {
      least = std::min(least, squares_of_pools(points, borders));
    }
    EXPECT_NEAR(squares, least, 1e-9) << "round " << round;
  }
  EXPECT_GT(tables, 100);
}

TEST(FittedCost, TakesASingleSizeAsItIs) {
  const FittedCost fitted = fit_cost({{8, 100}});
  EXPECT_EQ(fitted.form, "points");
  EXPECT_FALSE(fitted.line.has_value());
  EXPECT_EQ(fitted.cost(1 << 20), 100);
}

TEST(FittedCost, RefusesNoPoints) { EXPECT_THROW((void)fit_cost({}), InputError); }

}  // namespace
}  // namespace mergewise
