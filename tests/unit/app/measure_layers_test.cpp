// SPDX-License-Identifier: Apache-2.0
#include "bench/app/measure_layers.hpp"

#include "bench/core/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace mergewise {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

// A layer of products, and two memory passes of one kind.
Workload workload() {
  Workload workload;
  workload.name = "small";
  workload.batch = 4;
  LayerWork conv;
  conv.layer = "conv1";
  conv.kind = LayerKind::kConv;
  conv.forward = {{.m = 100, .n = 10, .k = 1000}};
  conv.backward = {{.m = 1000, .n = 10, .k = 100}, {.m = 100, .n = 1000, .k = 10}};
  conv.forward_bytes = 123;
  LayerWork relu;
  relu.layer = "relu1";
  relu.kind = LayerKind::kActivation;
  relu.forward_bytes = 1000;
  relu.backward_bytes = 2000;
  LayerWork slower = relu;
  slower.layer = "relu2";
  workload.layers = {conv, relu, slower};
  return workload;
}

LayerMeasurement measurement() {
  LayerMeasurement measured;
  measured.layers = {{20'000, 40'000}, {40, 60}, {50, 150}};
  measured.passes = {{20'100, 40'230}, {20'090, 40'210}, {20'080, 40'200}};
  measured.pass = {20'090, 40'210};
  measured.gemm_flops_per_s = 200e9;
  measured.copy_bytes_per_s = 40e9;
  measured.threads = 2;
  measured.blas = "OpenBLAS 1, Some kernels";
  return measured;
}

TEST(MeasureLayers, RatesAreOverForwardAndBackwardTogether) {
  const auto json = nlohmann::json::parse(layer_measurement_json(workload(), measurement()));
  const auto& conv = json["layers"][0];
  EXPECT_EQ(conv["name"], "conv1");
  EXPECT_EQ(conv["flops"], 6e6);
  EXPECT_DOUBLE_EQ(conv["flops_per_s"].get<double>(), 6e6 / 60e-6);
  EXPECT_DOUBLE_EQ(conv["of_gemm_ceiling"].get<double>(), 0.5);
  EXPECT_TRUE(conv["bytes"].is_null()) << "products are measured against their own ceiling";
  const auto& relu = json["layers"][1];
  EXPECT_EQ(relu["bytes"], 3000);
  EXPECT_DOUBLE_EQ(relu["bytes_per_s"].get<double>(), 30e9);
  EXPECT_DOUBLE_EQ(relu["of_copy_ceiling"].get<double>(), 0.75);
  EXPECT_TRUE(relu["flops"].is_null());
}

TEST(MeasureLayers, KindsAreSumsAndTheWholeIsThePass) {
  const auto json = nlohmann::json::parse(layer_measurement_json(workload(), measurement()));
  ASSERT_EQ(json["kinds"].size(), 2U);
  const auto& activation = json["kinds"][1];
  EXPECT_EQ(activation["kind"], "activation");
  EXPECT_EQ(activation["forward_ns"], 90);
  EXPECT_EQ(activation["backward_ns"], 210);
  EXPECT_DOUBLE_EQ(activation["bytes_per_s"].get<double>(), 20e9);
  EXPECT_EQ(json["forward_ns"], 20'090);
  EXPECT_EQ(json["backward_ns"], 40'210);
  EXPECT_EQ(json["passes"].size(), 3U);
  EXPECT_EQ(json["threads"], 2);
}

TEST(MeasureLayers, TheTableShowsLayersKindsCeilingsAndHow) {
  const std::string table = layer_measurement_table(workload(), measurement());
  EXPECT_THAT(table, ContainsRegex("conv1 +conv +0\\.020 +0\\.040 +100\\.0 +50 %\n"));
  EXPECT_THAT(table, ContainsRegex("relu2 +activation +0\\.000 +0\\.000 +15\\.0 +38 %\n"));
  EXPECT_THAT(table, ContainsRegex("all +activation .* 20\\.0 +50 %\n"));
  EXPECT_THAT(table, ContainsRegex("a pass +0\\.020 +0\\.040\n"));
  EXPECT_THAT(table, ContainsRegex("ceiling +200\\.0 +40\\.0\n"));
  EXPECT_THAT(table, AllOf(HasSubstr("small, batch 4"), HasSubstr("medians of 3 passes"),
                           HasSubstr("OpenBLAS 1, Some kernels, 2 threads")));
}

TEST(MeasureLayers, AWorkloadOfTimesOnlyIsRefused) {
  Workload times;
  times.name = "mine";
  EXPECT_THROW(print_layer_measurement(times, "table"), InputError);
}

}  // namespace
}  // namespace mergewise
