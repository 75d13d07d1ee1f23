// SPDX-License-Identifier: Apache-2.0
// The fits on real measurements: OSU all-reduce latencies on 10 GbE. Skipped, saying so, where they
// are not at hand.
#include "bench/core/median.hpp"
#include "bench/cost/fit.hpp"
#include "tests/support/reference.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>

namespace mergewise {
namespace {

// Lines "bytes,latency_us" after a header.
MeasuredPoints read_trace(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  MeasuredPoints points;
  while (std::getline(file, line)) {
    const std::size_t comma = line.find(',');
    points.emplace_back(std::stoll(line.substr(0, comma)), std::stod(line.substr(comma + 1)) * 1e3);
  }
  return points;
}

double median_error(const MeasuredPoints& points, const CostModel& cost) {
  std::vector<double> errors;
  for (const auto& [bytes, ns] : points) errors.push_back(std::abs(cost(bytes) / ns - 1));
  return median(errors);
}

void print(const std::string& name, const LineFit& line, const SegmentedFit& fit) {
  fmt::print("{}: line a {:.1f} us, b {:.4f} ns/B, R2 {:.4f}, largest error {:.1f} %\n", name,
             line.line.a_ns / 1e3, line.line.b_ns_per_byte, line.r_squared,
             100 * line.largest_error);
  fmt::print("  {} segments, R2 {:.5f}, largest error {:.1f} %\n", fit.segments.size(),
             fit.r_squared, 100 * fit.largest_error);
  for (const SegmentedFit::Segment& segment : fit.segments) {
    fmt::print("  {} to {} B: a {:.1f} us, b {:.4f} ns/B\n", segment.from, segment.to,
               segment.line.a_ns / 1e3, segment.line.b_ns_per_byte);
  }
}

class OsuTrace : public ::testing::TestWithParam<int> {};

TEST_P(OsuTrace, SegmentsDescribeItMuchBetterThanALine) {
  const std::string name = fmt::format("osu_allreduce_10gbe_{}nodes.csv", GetParam());
  const auto path = test::reference_file("traces/" + name);
  if (!test::lacking(path).empty()) GTEST_SKIP() << test::lacking(path);
  const MeasuredPoints points = read_trace(path);
  const LineFit line = fit_line(points);
  const SegmentedFit fit = fit_segments(points);
  print(name, line, fit);
  EXPECT_GT(fit.segments.size(), 1U);
  EXPECT_LT(fit.largest_error, line.largest_error / 2);
  EXPECT_LT(median_error(points, fit.cost()), median_error(points, CostModel(line.line)) / 2);
  EXPECT_GT(fit.r_squared, line.r_squared);
}

INSTANTIATE_TEST_SUITE_P(Nodes, OsuTrace, ::testing::Values(2, 4, 8));

TEST(OsuTrace8Nodes, JumpsBetween8And12KiB) {
  const auto path = test::reference_file("traces/osu_allreduce_10gbe_8nodes.csv");
  if (!test::lacking(path).empty()) GTEST_SKIP() << test::lacking(path);
  const SegmentedFit fit = fit_segments(read_trace(path));
  const bool border =
      std::any_of(fit.segments.begin(), fit.segments.end(),
                  [](const SegmentedFit::Segment& segment) { return segment.from == 12288; });
  EXPECT_TRUE(border);
  const CostModel cost = fit.cost();
  EXPECT_GT(cost(12288), 3 * cost(8192));
}

}  // namespace
}  // namespace mergewise
