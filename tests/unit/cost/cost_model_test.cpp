// SPDX-License-Identifier: Apache-2.0
#include "bench/cost/cost_model.hpp"

#include "bench/core/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace mergewise {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(CostModel, CostsNothingByDefault) {
  const CostModel model;
  EXPECT_EQ(model(0), 0);
  EXPECT_EQ(model(1'000'000), 0);
  EXPECT_TRUE(model.is_zero());
  ASSERT_NE(model.linear(), nullptr);
}

TEST(CostModel, LineStartsOnlyWithTheFirstByte) {
  const CostModel model = LinearCost{100, 2};
  EXPECT_EQ(model(0), 0);
  EXPECT_EQ(model(1), 102);
  EXPECT_EQ(model(50), 200);
  EXPECT_FALSE(model.is_zero());
  EXPECT_EQ(model.measured(), nullptr);
}

TEST(CostModel, TableInterpolatesBetweenPoints) {
  const CostModel model = MeasuredCost{{{100, 1000}, {200, 3000}, {1000, 3800}}};
  EXPECT_EQ(model(100), 1000);
  EXPECT_EQ(model(150), 2000);
  EXPECT_EQ(model(200), 3000);
  EXPECT_EQ(model(600), 3400);
  EXPECT_EQ(model(1000), 3800);
  EXPECT_EQ(model.linear(), nullptr);
}

TEST(CostModel, TableBelowItsFirstPointGivesTheFirstTime) {
  const CostModel model = MeasuredCost{{{100, 1000}, {200, 3000}}};
  EXPECT_EQ(model(0), 0);
  EXPECT_EQ(model(1), 1000);
  EXPECT_EQ(model(99), 1000);
}

TEST(CostModel, TableBeyondItsLastPointGoesOnWithTheLastSegment) {
  const CostModel model = MeasuredCost{{{100, 1000}, {200, 3000}, {300, 4000}}};
  EXPECT_EQ(model(400), 5000);
  EXPECT_EQ(model(1300), 14000);
}

TEST(CostModel, TableOfOnePointIsConstant) {
  const CostModel model = MeasuredCost{{{100, 1000}}};
  EXPECT_EQ(model(0), 0);
  EXPECT_EQ(model(1), 1000);
  EXPECT_EQ(model(100), 1000);
  EXPECT_EQ(model(100'000), 1000);
}

TEST(CostModel, TableRaisesEachTimeToTheLargestBeforeIt) {
  const CostModel model = MeasuredCost{{{10, 500}, {20, 300}, {30, 400}, {40, 700}}};
  EXPECT_EQ(model(20), 500);
  EXPECT_EQ(model(30), 500);
  EXPECT_EQ(model(35), 600);
  EXPECT_EQ(model(40), 700);
  ASSERT_NE(model.measured(), nullptr);
  EXPECT_EQ(model.measured()->points[1].second, 300) << "the points stay as given";
}

TEST(CostModel, TableThatFallsAtTheEndIsConstantBeyondIt) {
  const CostModel model = MeasuredCost{{{10, 500}, {20, 300}}};
  EXPECT_EQ(model(10'000), 500);
}

TEST(CostModel, TableMayHaveAPointAtZeroBytesButNothingIsFree) {
  const CostModel model = MeasuredCost{{{0, 100}, {10, 200}}};
  EXPECT_EQ(model(0), 0);
  EXPECT_EQ(model(5), 150);
}

TEST(CostModel, ZeroTableIsZero) {
  EXPECT_TRUE(CostModel(MeasuredCost{{{1, 0}, {10, 0}}}).is_zero());
  EXPECT_FALSE(CostModel(MeasuredCost{{{1, 0}, {10, 1}}}).is_zero());
}

TEST(CostModel, NeverDecreases) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> time(0, 1e7);
  std::uniform_int_distribution<Bytes> step(1, 5'000);
  for (int round = 0; round < 50; ++round) {
    MeasuredCost table;
    Bytes bytes = 0;
    for (int point = 0; point < 12; ++point)
      table.points.emplace_back(bytes += step(random), time(random));
    const CostModel model = table;
    double before = 0;
    for (Bytes size = 0; size < bytes + 2'000; ++size) {
      const double cost = model(size);
      ASSERT_GE(cost, before) << "at " << size << " bytes in round " << round;
      before = cost;
    }
  }
}

TEST(CostModel, RefusesImpossibleLines) {
  EXPECT_THROW(CostModel(LinearCost{-1, 0}), InputError);
  EXPECT_THROW(CostModel(LinearCost{0, -1e-9}), InputError);
  EXPECT_THROW(CostModel(LinearCost{kNaN, 0}), InputError);
  EXPECT_THROW(CostModel(LinearCost{0, kInfinity}), InputError);
}

TEST(CostModel, RefusesImpossibleTables) {
  EXPECT_THROW(CostModel(MeasuredCost{}), InputError);
  EXPECT_THROW(CostModel(MeasuredCost{{{-1, 5}}}), InputError);
  EXPECT_THROW(CostModel(MeasuredCost{{{1, -5}}}), InputError);
  EXPECT_THROW(CostModel(MeasuredCost{{{1, kNaN}}}), InputError);
  EXPECT_THROW(CostModel(MeasuredCost{{{1, 5}, {1, 6}}}), InputError);
  EXPECT_THROW(CostModel(MeasuredCost{{{2, 5}, {1, 6}}}), InputError);
}

TEST(CostModel, EqualsByItsNumbers) {
  EXPECT_EQ(CostModel(LinearCost{1, 2}), CostModel(LinearCost{1, 2}));
  EXPECT_NE(CostModel(LinearCost{1, 2}), CostModel(LinearCost{1, 3}));
  EXPECT_NE(CostModel(LinearCost{5, 0}), CostModel(MeasuredCost{{{1, 5}}}));
}

std::vector<std::pair<Bytes, Nanoseconds>> on_a_line(double a, double b) {
  std::vector<std::pair<Bytes, Nanoseconds>> points;
  for (Bytes bytes = 1024; bytes <= (Bytes{1} << 28); bytes *= 4) {
    points.emplace_back(bytes, a + b * static_cast<double>(bytes));
  }
  return points;
}

TEST(LineFit, FindsTheLineThatPointsLieOn) {
  const LineFit fit = fit_line(on_a_line(22e6, 15.1));
  EXPECT_NEAR(fit.line.a_ns, 22e6, 22e6 * 1e-9);
  EXPECT_NEAR(fit.line.b_ns_per_byte, 15.1, 15.1 * 1e-9);
  EXPECT_NEAR(fit.r_squared, 1, 1e-12);
  EXPECT_LT(fit.largest_error, 1e-9);
  EXPECT_FALSE(fit.negative_intercept);
  EXPECT_NEAR(fit.gigabits_per_s, 8 / 15.1, 1e-9);
}

TEST(LineFit, MinimisesTheRelativeError) {
  const std::vector<std::pair<Bytes, Nanoseconds>> points{{100, 150}, {1000, 900}, {9000, 12000}};
  const auto loss = [&](double a, double b) {
    double sum = 0;
    for (const auto& [bytes, ns] : points) {
      sum += std::pow((a + b * static_cast<double>(bytes) - ns) / ns, 2);
    }
    return sum;
  };
  const LinearCost line = fit_line(points).line;
  const double best = loss(line.a_ns, line.b_ns_per_byte);
  for (const double step : {-1e-3, 1e-3}) {
    EXPECT_GT(loss(line.a_ns * (1 + step), line.b_ns_per_byte), best);
    EXPECT_GT(loss(line.a_ns, line.b_ns_per_byte * (1 + step)), best);
  }
}

TEST(LineFit, GoesThroughTheOriginWhenTheInterceptWouldBeNegative) {
  // y = 2 x - 50: a = 0 leaves sum(x / y) / sum(x^2 / y^2).
  const LineFit fit = fit_line({{50, 50}, {100, 150}});
  EXPECT_TRUE(fit.negative_intercept);
  EXPECT_EQ(fit.line.a_ns, 0);
  EXPECT_DOUBLE_EQ(fit.line.b_ns_per_byte, (1 + 2.0 / 3) / (1 + 4.0 / 9));
  EXPECT_NEAR(fit.r_squared, 1, 1e-12) << "of the line before it was bounded";
  EXPECT_NEAR(fit.largest_error, 1 - (1 + 2.0 / 3) / (1 + 4.0 / 9) * 100 / 150, 1e-12);
}

TEST(LineFit, IsConstantWhenTimesFall) {
  const LineFit fit = fit_line({{100, 200}, {200, 100}});
  EXPECT_EQ(fit.line.b_ns_per_byte, 0);
  EXPECT_DOUBLE_EQ(fit.line.a_ns, (1.0 / 200 + 1.0 / 100) / (1.0 / 40000 + 1.0 / 10000));
  EXPECT_FALSE(fit.negative_intercept);
  EXPECT_EQ(fit.gigabits_per_s, 0) << "no slope implies no link rate";
}

TEST(LineFit, SaysHowBadlyALineDescribesAJump) {
  const LineFit fit = fit_line({{8192, 182e3}, {12288, 792e3}, {16384, 800e3}});
  EXPECT_GT(fit.largest_error, 0.1);
  EXPECT_LT(fit.r_squared, 0.99);
}

TEST(LineFit, RefusesTooFewOrImpossiblePoints) {
  EXPECT_THROW((void)fit_line({}), InputError);
  EXPECT_THROW((void)fit_line({{1, 1}}), InputError);
  EXPECT_THROW((void)fit_line({{0, 1}, {2, 2}}), InputError);
  EXPECT_THROW((void)fit_line({{1, 0}, {2, 2}}), InputError);
  EXPECT_THROW((void)fit_line({{1, kNaN}, {2, 2}}), InputError);
  EXPECT_THROW((void)fit_line({{5, 1}, {5, 2}}), InputError);
}

}  // namespace
}  // namespace mergewise
