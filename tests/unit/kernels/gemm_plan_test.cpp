// SPDX-License-Identifier: Apache-2.0
#include "kernels/compute/gemm_plan.hpp"

#include "bench/core/error.hpp"
#include "kernels/compute/gemm_compute.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mergewise {
namespace {

using ::testing::HasSubstr;

Gemm gemm(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t count = 1) {
  Gemm product;
  product.m = m;
  product.n = n;
  product.k = k;
  product.count = count;
  return product;
}

LayerWork conv() {
  LayerWork work;
  work.layer = "conv1";
  work.kind = LayerKind::kConv;
  work.forward = {gemm(100, 8, 27)};
  work.backward = {gemm(27, 8, 100), gemm(100, 27, 8)};
  work.forward_bytes = 1'000'000;
  work.backward_bytes = 2'000'000;
  return work;
}

LayerWork attention() {
  LayerWork work;
  work.layer = "attention";
  work.kind = LayerKind::kAttention;
  work.forward = {gemm(16, 16, 4, 24), gemm(16, 4, 16, 24)};
  work.backward = {gemm(16, 4, 16, 48), gemm(16, 16, 4, 48)};
  return work;
}

LayerWork relu(Bytes bytes) {
  LayerWork work;
  work.layer = "relu";
  work.kind = LayerKind::kActivation;
  work.forward_bytes = bytes;
  work.backward_bytes = 2 * bytes;
  return work;
}

double macs(const std::vector<Gemm>& products) {
  double sum = 0;
  for (const Gemm& product : products) sum += static_cast<double>(product.macs());
  return sum;
}

TEST(GemmPlan, HasEveryFlopOfEveryLayer) {
  const std::vector<LayerWork> layers{conv(), relu(800), attention()};
  const GemmPlan plan = make_gemm_plan(layers);
  ASSERT_EQ(plan.forward.size(), layers.size());
  ASSERT_EQ(plan.backward.size(), layers.size());
  for (std::size_t i = 0; i < layers.size(); ++i) {
    EXPECT_EQ(plan.forward[i].flops(), 2 * macs(layers[i].forward)) << layers[i].layer;
    EXPECT_EQ(plan.backward[i].flops(), 2 * macs(layers[i].backward)) << layers[i].layer;
  }
}

TEST(GemmPlan, SweepsTheBytesOfLayersWithoutProductsOnly) {
  const GemmPlan plan = make_gemm_plan({conv(), relu(800)});
  EXPECT_EQ(plan.forward[0].swept_floats, 0);
  EXPECT_EQ(plan.backward[0].swept_floats, 0);
  // Half of the bytes is read and half written.
  EXPECT_EQ(plan.forward[1].swept_floats, 100);
  EXPECT_EQ(plan.backward[1].swept_floats, 200);
}

TEST(GemmPlan, LayersWithoutWorkAndEmptyProductsRunNothing) {
  LayerWork nothing;
  nothing.layer = "dropout";
  nothing.forward = {gemm(0, 8, 8), gemm(8, 8, 8, 0)};
  const GemmPlan plan = make_gemm_plan({nothing});
  EXPECT_TRUE(plan.forward[0].empty());
  EXPECT_TRUE(plan.backward[0].empty());
  EXPECT_EQ(plan.memory(), 0);
  EXPECT_EQ(gemm_memory({}), 0);
}

TEST(GemmPlan, BuffersFitTheNeediestLayer) {
  // Forward reads A and B of 100 x 27 and 27 x 8, writes 100 x 8; backward writes 100 x 27.
  const GemmPlan plan = make_gemm_plan({conv()});
  EXPECT_EQ(plan.input_floats, 2700 + 800);  // gradient by weight: 27 x 100 and 100 x 8
  EXPECT_EQ(plan.output_floats, 2700);
  EXPECT_EQ(plan.largest_layer, "conv1");
  // The sweep reads and writes 3000 floats each: less input than conv1's, more output.
  const GemmPlan mixed = make_gemm_plan({conv(), relu(12'000)});
  EXPECT_EQ(mixed.input_floats, 3500);
  EXPECT_EQ(mixed.output_floats, 3000);
  EXPECT_EQ(mixed.memory(), 4 * 6500);
  EXPECT_EQ(mixed.largest_layer, "conv1");
  EXPECT_EQ(gemm_memory({conv(), relu(12'000)}), mixed.memory());
  // 48 products of 16 x 4 x 16 each have their own operands.
  EXPECT_EQ(make_gemm_plan({attention()}).input_floats, 48 * (256 + 64));
}

TEST(GemmPlan, ProductsBeyondBlasAreRefusedWithTheirLayer) {
  LayerWork huge = conv();
  huge.forward = {gemm(std::int64_t{1} << 31, 8, 8)};
  try {
    static_cast<void>(make_gemm_plan({huge}));
    FAIL();
  } catch (const UnsupportedError& error) {
    EXPECT_THAT(error.what(), HasSubstr("conv1"));
    EXPECT_THAT(error.what(), HasSubstr("2147483648 x 8 x 8"));
  }
}

TEST(GemmPlan, AbsurdSizesDoNotOverflow) {
  constexpr std::int64_t kMost = 2147483647;
  LayerWork absurd = conv();
  absurd.forward = {gemm(kMost, kMost, kMost, kMost)};
  EXPECT_GT(make_gemm_plan({absurd}).memory(), Bytes{1} << 58);
}

}  // namespace
}  // namespace mergewise
