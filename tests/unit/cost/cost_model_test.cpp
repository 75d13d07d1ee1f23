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

}  // namespace
}  // namespace mergewise
