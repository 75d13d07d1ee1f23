// SPDX-License-Identifier: Apache-2.0
#include "bench/core/error.hpp"
#include "bench/cost/fit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace mergewise {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

MeasuredPoints on_a_line(double a, double b) {
  MeasuredPoints points;
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
  const MeasuredPoints points{{100, 150}, {1000, 900}, {9000, 12000}};
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
