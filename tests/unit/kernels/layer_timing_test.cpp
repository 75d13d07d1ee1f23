// SPDX-License-Identifier: Apache-2.0
#include "kernels/compute/layer_timing.hpp"

#include "bench/core/error.hpp"
#include "kernels/compute/gemm_plan.hpp"
#include "layer_samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace mergewise {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TimingSettings quick(int repetitions) {
  TimingSettings settings;
  settings.repetitions = repetitions;
  settings.square_sizes = {32, 64};
  settings.swept_bytes = 1 << 20;
  return settings;
}

TEST(LayerTiming, EveryLayerAndEveryPassHasATime) {
  const auto layers = layers_of_every_kind(2);
  const LayerMeasurement measured = measure_layer_times(layers, quick(3));
  ASSERT_EQ(measured.layers.size(), layers.size());
  for (const LayerTime& time : measured.layers) {
    EXPECT_GT(time.forward_ns, 0);
    EXPECT_GT(time.backward_ns, 0);
  }
  EXPECT_EQ(measured.passes.size(), 3U);
  EXPECT_GT(measured.gemm_flops_per_s, 0);
  EXPECT_GT(measured.copy_bytes_per_s, 0);
  EXPECT_GE(measured.threads, 1);
  EXPECT_THAT(measured.blas, HasSubstr("OpenBLAS"));
}

TEST(LayerTiming, TheTimesOfTheLayersAddUpToThePass) {
  const LayerMeasurement measured = measure_layer_times(layers_of_every_kind(2), quick(1));
  LayerTime sum;
  for (const LayerTime& time : measured.layers) {
    sum.forward_ns += time.forward_ns;
    sum.backward_ns += time.backward_ns;
  }
  EXPECT_EQ(sum.forward_ns, measured.pass.forward_ns);
  EXPECT_EQ(sum.backward_ns, measured.pass.backward_ns);
}

TEST(LayerTiming, APassIsTheMedianOfItsRepetitions) {
  const LayerMeasurement measured = measure_layer_times({linear("fc", 8)}, quick(5));
  std::vector<Nanoseconds> forward;
  for (const LayerTime& pass : measured.passes) forward.push_back(pass.forward_ns);
  std::sort(forward.begin(), forward.end());
  EXPECT_EQ(measured.pass.forward_ns, forward.at(2));
  EXPECT_EQ(measured.layers.at(0).forward_ns, measured.pass.forward_ns);
}

TEST(LayerTiming, TheMedianOfAnEvenNumberLiesBetweenTheMiddleTwo) {
  const LayerMeasurement measured = measure_layer_times({linear("fc", 8)}, quick(2));
  ASSERT_EQ(measured.passes.size(), 2U);
  const LayerTime& a = measured.passes[0];
  const LayerTime& b = measured.passes[1];
  EXPECT_DOUBLE_EQ(measured.pass.forward_ns, (a.forward_ns + b.forward_ns) / 2);
  EXPECT_DOUBLE_EQ(measured.pass.backward_ns, (a.backward_ns + b.backward_ns) / 2);
}

TEST(LayerTiming, ASpentBudgetEndsIt) {
  TimingSettings settings = quick(1000);
  settings.budget_ns = 0;
  EXPECT_EQ(measure_layer_times({linear("fc", 8)}, settings).passes.size(), 1U);
}

TEST(LayerTiming, WhatDoesNotFitIntoMemoryIsRefused) {
  EXPECT_THROW(static_cast<void>(measure_layer_times({relu(Bytes{1} << 55)}, quick(1))),
               BackendError);
  TimingSettings settings = quick(1);
  settings.swept_bytes = Bytes{1} << 55;
  EXPECT_THROW(static_cast<void>(measure_layer_times({relu(800)}, settings)), BackendError);
}

TEST(LayerTiming, TheNetworkAndTheCeilingsMustFitTogether) {
  const Bytes network = make_gemm_plan({relu(800'000)}).memory();
  const TimingSettings settings = quick(1);
  const Bytes ceilings = settings.swept_bytes;  // half of it is read, half written
  const auto measure = [&](Bytes available) {
    static_cast<void>(measure_layer_times({relu(800'000)}, settings, available));
  };
  EXPECT_NO_THROW(measure(network + ceilings));
  try {
    measure(network + ceilings - 1);
    FAIL();
  } catch (const BackendError& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr(std::to_string(network + ceilings)), HasSubstr("layer relu"),
                      HasSubstr("1.0 MiB for the machine's ceilings")));
  }
}

TEST(LayerTiming, MeasuringNothingIsABug) {
  EXPECT_THROW(static_cast<void>(measure_layer_times({}, quick(0))), std::logic_error);
}

}  // namespace
}  // namespace mergewise
