// SPDX-License-Identifier: Apache-2.0
#include "bench/app/calibration_facts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mergewise {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Points of a + b M from 4 bytes to 16 MiB, jumping by this factor above 64 KiB.
MeasuredVariant measured(double a, double b, double jump = 1) {
  MeasuredVariant variant{CostVariant::kBackToBack, {}};
  for (Bytes bytes = 4; bytes <= 1 << 24; bytes *= 2) {
    const double ns = (a + b * static_cast<double>(bytes)) * (bytes > 65536 ? jump : 1);
    variant.points.push_back({bytes, ns, 0.99 * ns, 1.01 * ns, 7});
  }
  return variant;
}

TEST(CalibrationFacts, ALinkCarriesWhatTheBestAlgorithmSends) {
  EXPECT_DOUBLE_EQ(bus_factor(Collective::kAllReduce, 4), 1.5);
  EXPECT_DOUBLE_EQ(bus_factor(Collective::kReduceScatter, 4), 0.75);
  EXPECT_DOUBLE_EQ(bus_factor(Collective::kAllGather, 4), 3) << "of what one rank contributes";
  EXPECT_DOUBLE_EQ(*bus_gbps(Collective::kAllReduce, 4, 1.2), 10);
  EXPECT_FALSE(bus_gbps(Collective::kAllReduce, 4, 0).has_value());
}

TEST(CalibrationFacts, AGoodLineBecomesTheCost) {
  const auto [calibration, cost] =
      describe_calibration(Collective::kAllReduce, measured(1e5, 1.2), 4, 10);
  EXPECT_EQ(calibration.collective, "all_reduce");
  EXPECT_EQ(calibration.variant, "back_to_back");
  EXPECT_EQ(calibration.points.size(), 23U);
  EXPECT_TRUE(calibration.used_line);
  EXPECT_EQ(calibration.used, "line");
  EXPECT_NE(cost.linear(), nullptr);
  EXPECT_NEAR(*calibration.bus_gbps, 10, 1e-6);
  EXPECT_THAT(calibration.warnings, IsEmpty());
}

TEST(CalibrationFacts, AJumpMakesSegmentsTheCost) {
  const auto [calibration, cost] =
      describe_calibration(Collective::kAllReduce, measured(1e5, 1.2, 3), 4, {});
  EXPECT_EQ(calibration.used, "segments");
  EXPECT_FALSE(calibration.used_line);
  EXPECT_EQ(cost, calibration.segments->cost());
  EXPECT_THAT(calibration.why, HasSubstr("2 segments"));
}

TEST(CalibrationFacts, WarnsOfWhatIsFasterThanTheLink) {
  const auto warnings = [](std::optional<double> link) {
    return describe_calibration(Collective::kAllReduce, measured(1e5, 1.2), 4, link).first.warnings;
  };
  EXPECT_THAT(warnings(9), Contains(HasSubstr("faster than the link")));
  EXPECT_THAT(warnings(9.9), IsEmpty()) << "within what measuring can tell";
  EXPECT_THAT(warnings(std::nullopt), IsEmpty()) << "nothing is known of the link";
}

TEST(CalibrationFacts, WarnsOfALastSegmentThatIsFasterThanTheLink) {
  // The line over everything is slow enough, but its end is not.
  MeasuredVariant variant = measured(1e5, 4);
  for (CalibrationPoint& point : variant.points) {
    if (point.bytes >= 1 << 20) point.ns = 4e6 + 0.1 * static_cast<double>(point.bytes);
  }
  const Calibration calibration =
      describe_calibration(Collective::kAllReduce, variant, 4, 10).first;
  EXPECT_THAT(calibration.warnings, Contains(HasSubstr("the last segment implies 120 Gbit/s")));
}

TEST(CalibrationFacts, WarnsOfANegativeIntercept) {
  const MeasuredVariant variant{CostVariant::kIsolated,
                                {{50, 50, 50, 50, 1}, {100, 150, 150, 150, 1}}};
  const Calibration calibration =
      describe_calibration(Collective::kAllReduce, variant, 2, {}).first;
  EXPECT_THAT(calibration.warnings, Contains(HasSubstr("negative intercept")));
  EXPECT_THAT(describe_calibration(Collective::kAllReduce, measured(1, 1), 2, {}).first.warnings,
              Not(Contains(HasSubstr("negative intercept"))));
}

TEST(CalibrationFacts, ASingleSizeHasNoFit) {
  const MeasuredVariant variant{CostVariant::kIsolated, {{8, 100, 90, 110, 3}}};
  const auto [calibration, cost] = describe_calibration(Collective::kAllReduce, variant, 2, 10);
  EXPECT_EQ(calibration.used, "points");
  EXPECT_FALSE(calibration.segments.has_value());
  EXPECT_FALSE(calibration.bus_gbps.has_value());
  EXPECT_EQ(cost(8), 100);
}

TEST(CalibrationFacts, CopiesUseNoLink) {
  const Calibration calibration = describe_local("copy", measured(10, 0.1)).first;
  EXPECT_EQ(calibration.collective, "copy");
  EXPECT_FALSE(calibration.bus_gbps.has_value());
}

}  // namespace
}  // namespace mergewise
