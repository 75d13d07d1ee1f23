// SPDX-License-Identifier: Apache-2.0
#include "bench/replay/calibrate.hpp"
#include "kernels/compress/host_compressor.hpp"
#include "tests/unit/replay/fakes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace mergewise {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

CalibrationSettings quick() {
  CalibrationSettings settings;
  settings.sizes = {4, 52, 4096, 40'000};
  settings.most_repetitions = 3;
  settings.rounds = 2;
  return settings;
}

std::vector<Bytes> sizes_of(const MeasuredCosts& costs) {
  std::vector<Bytes> sizes;
  for (const CalibrationPoint& point : costs.variants.at(0).points) sizes.push_back(point.bytes);
  return sizes;
}

TEST(CalibrateCompressor, TimesEverySizeBothWays) {
  const auto control = alone();
  const auto device = make_host_device();
  for (const std::string& id : compressor_ids()) {
    if (id == "none") continue;
    CompressorSpec spec = compressor_spec(id);
    spec.density = 0.1;
    spec.warm_up = 5;
    const auto compressor = make_host_compressor(spec);
    const CompressorCosts costs =
        calibrate_compressor(*control, device.get(), compressor.get(), 3, quick());
    for (const MeasuredCosts* way : {&costs.compress, &costs.decompress}) {
      EXPECT_THAT(sizes_of(*way), ElementsAre(4, 52, 4096, 40'000)) << id;
      EXPECT_EQ(way->variants.size(), 1U);
      EXPECT_EQ(way->variants[0].variant, CostVariant::kBackToBack);
      for (const CalibrationPoint& point : way->variants[0].points) EXPECT_GT(point.ns, 0);
    }
  }
}

TEST(CalibrateCompressor, GathersMessagesInParts) {
  const auto control = alone();
  const auto device = make_host_device();
  CompressorSpec spec = compressor_spec("topk");
  spec.messages = 2;
  const auto compressor = make_host_compressor(spec);
  const CompressorCosts costs =
      calibrate_compressor(*control, device.get(), compressor.get(), 5, quick());
  EXPECT_EQ(costs.decompress.variants.at(0).points.size(), 4U);
}

TEST(CalibrateCompressor, AStopAtTheStartGivesNoPoints) {
  CalibrationSettings settings = quick();
  settings.stop_requested = [] { return true; };
  const auto control = alone();
  const auto device = make_host_device();
  const auto compressor = make_host_compressor(compressor_spec("fp16"));
  const CompressorCosts costs =
      calibrate_compressor(*control, device.get(), compressor.get(), 2, settings);
  for (const MeasuredCosts* way : {&costs.compress, &costs.decompress}) {
    EXPECT_TRUE(way->stopped);
    EXPECT_THAT(way->variants.at(0).points, IsEmpty());
  }
}

}  // namespace
}  // namespace mergewise
