// SPDX-License-Identifier: Apache-2.0
#include "bench/replay/calibrate.hpp"

#include "tests/unit/replay/fakes.hpp"

#include <gtest/gtest.h>

namespace mergewise {
namespace {

TEST(Calibrate, SizesGoUpByFoursAndEndWithTheLargest) {
  EXPECT_EQ(calibration_sizes(5000), (std::vector<Bytes>{1024, 4096, 5000}));
  EXPECT_EQ(calibration_sizes(4096), (std::vector<Bytes>{1024, 4096}));
  EXPECT_EQ(calibration_sizes(8), (std::vector<Bytes>{8}));
  EXPECT_TRUE(calibration_sizes(0).empty());
}

TEST(Calibrate, GivesAPointForEachSizeWithItsExtremes) {
  const auto control = alone();
  const auto device = make_host_device();
  Log log;
  PretendedRanks communicator(2, &log, {});
  CalibrationSettings settings;
  settings.sizes = {4, 400};
  settings.rounds = 2;
  settings.most_repetitions = 3;
  const auto points = calibrate_all_reduce(*control, device.get(), &communicator, settings);
  ASSERT_EQ(points.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(points[i].bytes, settings.sizes[i]);
    EXPECT_LE(points[i].low_ns, points[i].ns);
    EXPECT_LE(points[i].ns, points[i].high_ns);
    EXPECT_GT(points[i].repetitions, 0);
  }
  EXPECT_NE(log.position("r1"), log.entries().size());
  EXPECT_NE(log.position("r100"), log.entries().size());
}

TEST(Calibrate, AStopGivesNoPoints) {
  const auto control = alone();
  const auto device = make_host_device();
  CalibrationSettings settings;
  settings.sizes = {4};
  settings.stop_requested = [] { return true; };
  EXPECT_TRUE(calibrate_copy(*control, device.get(), settings).empty());
}

TEST(Calibrate, LayerTimesAreOnePerTensor) {
  const auto control = alone();
  const auto device = make_host_device();
  LoggingCompute compute(nullptr);
  PretendedRanks communicator(1, nullptr, {});
  Replayer replayer(*device, communicator, compute, {4, 8, 0}, Buffers::kSlice, {});
  const auto times = measure_layers(*control, &replayer, 3);
  EXPECT_EQ(times.backward_ns.size(), 3U);
  for (const Nanoseconds time : times.backward_ns) EXPECT_GE(time, 0);
}

}  // namespace
}  // namespace mergewise
