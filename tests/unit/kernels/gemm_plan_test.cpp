// SPDX-License-Identifier: Apache-2.0
#include "kernels/compute/gemm_plan.hpp"

#include "bench/core/error.hpp"
#include "layer_samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace mergewise {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Lt;

std::vector<ProductRole> roles(const GemmPass& pass) {
  std::vector<ProductRole> roles;
  for (const ProductCall& call : pass.products) roles.push_back(call.role);
  return roles;
}

using Stretch = std::pair<std::int64_t, std::int64_t>;

Stretch stretch(std::int64_t begin, std::int64_t floats) { return {begin, begin + floats}; }

// Where the operands of a call lie, all products of it together: those that are read, then the one
// that is written.
std::vector<Stretch> operands(const ProductCall& call) {
  std::vector<Stretch> xwy{stretch(0, call.count * call.block_rows * call.k),
                           stretch(call.w_begin, call.count * call.n * call.k),
                           stretch(call.y_begin, call.count * call.m * call.n)};
  const std::size_t written = call.role == ProductRole::kForward         ? 2
                              : call.role == ProductRole::kInputGradient ? 0
                                                                         : 1;
  std::rotate(xwy.begin() + static_cast<std::ptrdiff_t>(written),
              xwy.begin() + static_cast<std::ptrdiff_t>(written) + 1, xwy.end());
  return xwy;
}

void expect_sound(const GemmPass& pass, const GemmPlan& plan) {
  for (const ProductCall& call : pass.products) {
    EXPECT_GE(call.block_rows, 1);
    EXPECT_LE(call.block_rows, call.m);
    const auto lies = operands(call);
    EXPECT_TRUE(lies[0].second <= lies[1].first || lies[1].second <= lies[0].first) << "overlap";
    for (const std::size_t read : {0U, 1U}) {
      EXPECT_GE(lies[read].first, 0);
      EXPECT_LE(lies[read].second, plan.input_floats);
    }
    EXPECT_GE(lies[2].first, 0);
    EXPECT_LE(lies[2].second, plan.output_floats);
  }
  const auto& [rows, width, positions, scatter] = pass.lookup;
  EXPECT_LE(width * (scatter ? positions : rows), plan.input_floats);
  EXPECT_LE(width * (scatter ? rows : positions), plan.output_floats);
  EXPECT_LE(pass.sweep.read_period, plan.input_floats);
  EXPECT_LE(pass.sweep.written_period, plan.output_floats);
}

TEST(GemmPlan, HasEveryFlopOfEveryLayer) {
  const auto layers = layers_of_every_kind(3);
  const GemmPlan plan = make_gemm_plan(layers);
  ASSERT_EQ(plan.forward.size(), layers.size());
  ASSERT_EQ(plan.backward.size(), layers.size());
  for (std::size_t i = 0; i < layers.size(); ++i) {
    EXPECT_EQ(plan.forward[i].flops(), layers[i].forward_flops()) << layers[i].layer;
    EXPECT_EQ(plan.backward[i].flops(), layers[i].backward_flops()) << layers[i].layer;
    EXPECT_FALSE(plan.forward[i].empty()) << layers[i].layer;
    EXPECT_FALSE(plan.backward[i].empty()) << layers[i].layer;
  }
}

TEST(GemmPlan, OperandsLieInTheirBuffersAndApart) {
  for (const std::int64_t batch : {1, 3, 50}) {
    const auto layers = layers_of_every_kind(batch);
    for (const LayerWork& layer : layers) {
      SCOPED_TRACE(layer.layer);
      // Alone, so that no other layer makes the buffers large enough.
      const GemmPlan plan = make_gemm_plan({layer});
      expect_sound(plan.forward[0], plan);
      expect_sound(plan.backward[0], plan);
    }
  }
}

TEST(GemmPlan, AConvolutionGoesOverItsActivationsAgainAndAgain) {
  const GemmPlan plan = make_gemm_plan({conv()});
  const ProductCall& call = plan.forward[0].products.at(0);
  EXPECT_EQ(call.m, 3000);
  EXPECT_EQ(call.block_rows, 3000 / 9);  // as many whole rows as the activations are
}

TEST(GemmPlan, AProductOfTheActivationsThemselvesIsOneCall) {
  const GemmPlan plan = make_gemm_plan({linear("fc", 4000)});
  EXPECT_EQ(plan.forward[0].products.at(0).block_rows, 4000);
}

TEST(GemmPlan, FewActivationsStillMakeBlocksThatAreWorthACall) {
  LayerWork work = conv();
  work.input_elements = 40;  // less than one row
  EXPECT_EQ(make_gemm_plan({work}).forward[0].products.at(0).block_rows, 256);
}

TEST(GemmPlan, GroupsShareTheActivations) {
  LayerWork work = conv();
  work.forward = {gemm(3000, 4, 18, 4)};
  const GemmPlan plan = make_gemm_plan({work});
  const ProductCall& call = plan.forward[0].products.at(0);
  EXPECT_EQ(call.count, 4);
  EXPECT_EQ(call.block_rows, 3000 / 9);
}

TEST(GemmPlan, BackwardHasTheGradientByWeightAndThenByInput) {
  LayerWork first = conv();
  first.input_gradient = false;
  const GemmPlan plan = make_gemm_plan({conv(), first});
  EXPECT_THAT(roles(plan.forward[0]), ElementsAre(ProductRole::kForward));
  EXPECT_THAT(roles(plan.backward[0]),
              ElementsAre(ProductRole::kWeightGradient, ProductRole::kInputGradient));
  EXPECT_THAT(roles(plan.backward[1]), ElementsAre(ProductRole::kWeightGradient));
}

TEST(GemmPlan, BuffersFitTheNeediestLayer) {
  // Reads 333 rows of 72 inputs, the weight of 16 x 72 and the gradient of 3000 x 16 outputs;
  // writes that many outputs, or the gradients of the others. Operands begin at multiples of 16.
  const GemmPlan alone = make_gemm_plan({conv()});
  EXPECT_EQ(alone.input_floats, 333 * 72 + 8 + 16 * 72 + 3000 * 16);
  EXPECT_EQ(alone.output_floats, 3000 * 16);
  EXPECT_EQ(alone.largest_layer, "conv1");
  // Less than the convolution reads, more than it writes.
  const GemmPlan mixed = make_gemm_plan({conv(), relu(8 * 25'000)});
  EXPECT_EQ(mixed.input_floats, alone.input_floats);
  EXPECT_EQ(mixed.output_floats, 50'000);
  EXPECT_EQ(mixed.memory(), 4 * (mixed.input_floats + mixed.output_floats));
  EXPECT_EQ(mixed.largest_layer, "conv1");
}

TEST(GemmPlan, MemoryGrowsWithTheLargestLayerAndNotWithTheirNumber) {
  const Bytes one = make_gemm_plan({conv()}).memory();
  EXPECT_EQ(make_gemm_plan(std::vector<LayerWork>(20, conv())).memory(), one);
}

TEST(GemmPlan, SweepsTheBytesOfLayersWithoutProductsOnly) {
  const GemmPlan plan = make_gemm_plan({conv(), relu(800, 40)});
  EXPECT_EQ(plan.forward[0].sweep.floats, 0);
  EXPECT_EQ(plan.backward[0].sweep.floats, 0);
  // Half of the bytes is read and half written, over and over the layer's own activations.
  EXPECT_EQ(plan.forward[1].sweep.floats, 100);
  EXPECT_EQ(plan.forward[1].sweep.read_period, 40);
  EXPECT_EQ(plan.forward[1].sweep.written_period, 40);
  // Backward reads the activations and the gradient.
  EXPECT_EQ(plan.backward[1].sweep.floats, 200);
  EXPECT_EQ(plan.backward[1].sweep.read_period, 80);
  EXPECT_EQ(plan.backward[1].sweep.written_period, 40);
}

TEST(GemmPlan, AnEmbeddingLooksUpItsPositionsInItsTable) {
  const GemmPlan plan = make_gemm_plan({embedding()});
  const TableLookup& forward = plan.forward[0].lookup;
  EXPECT_EQ(forward.width, 64);
  EXPECT_EQ(forward.rows, 1000);
  EXPECT_EQ(forward.positions, 24);
  EXPECT_FALSE(forward.scatter);
  EXPECT_TRUE(plan.backward[0].lookup.scatter);
  EXPECT_EQ(plan.backward[0].sweep.floats, 0);
  EXPECT_EQ(plan.input_floats, 1000 * 64);
  EXPECT_EQ(plan.output_floats, 1000 * 64);
}

TEST(GemmPlan, LayersWithoutWorkAndEmptyProductsRunNothing) {
  LayerWork nothing;
  nothing.layer = "dropout";
  nothing.forward = {gemm(0, 8, 8), gemm(8, 8, 8, 0)};
  const GemmPlan plan = make_gemm_plan({nothing});
  EXPECT_TRUE(plan.forward[0].empty());
  EXPECT_TRUE(plan.backward[0].empty());
  EXPECT_EQ(plan.memory(), 0);
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

// More than any machine has, and room to add more to it.
auto is_absurd() { return AllOf(Gt(Bytes{1} << 58), Lt(Bytes{1} << 62)); }

TEST(GemmPlan, AbsurdSizesDoNotOverflow) {
  constexpr std::int64_t kMost = 2147483647;
  LayerWork absurd = conv();
  absurd.forward = {gemm(kMost, kMost, kMost, kMost)};
  EXPECT_THAT(make_gemm_plan({absurd}).memory(), is_absurd());

  constexpr std::int64_t kAbsurd = std::int64_t{1} << 62;
  LayerWork table = embedding();
  table.parameters = table.output_elements = kAbsurd;
  EXPECT_THAT(make_gemm_plan({table}).memory(), is_absurd());

  LayerWork sweep = relu(0);
  sweep.forward_bytes = std::numeric_limits<Bytes>::max();
  EXPECT_THAT(make_gemm_plan({sweep}).memory(), is_absurd());
}

}  // namespace
}  // namespace mergewise
