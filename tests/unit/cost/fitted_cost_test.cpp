// SPDX-License-Identifier: Apache-2.0
#include "bench/core/error.hpp"
#include "bench/cost/fit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mergewise {
namespace {

using ::testing::HasSubstr;

// A line with every second point off it by this much, up and down in turn.
MeasuredPoints around_a_line(double off) {
  MeasuredPoints points;
  double sign = 1;
  for (Bytes bytes = 4; bytes <= 1 << 20; bytes *= 2, sign = -sign) {
    points.emplace_back(bytes, (1000 + static_cast<double>(bytes)) * (1 + sign * off));
  }
  return points;
}

// Two lines with a jump between, every second point off.
MeasuredPoints with_a_jump(double off) {
  MeasuredPoints points = around_a_line(off);
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
  for (const MeasuredPoints& points : {around_a_line(0.2), with_a_jump(0.2)}) {
    const FittedCost fitted = fit_cost(points);
    EXPECT_EQ(fitted.form, "points");
    EXPECT_EQ(fitted.cost, CostModel(MeasuredCost{points}));
    EXPECT_GT(fitted.line->largest_error, 0.1) << "the fits are told all the same";
  }
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
