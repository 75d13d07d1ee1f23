// SPDX-License-Identifier: Apache-2.0
// Products and bytes of layers for a batch.
#include "workloads/layer_work.hpp"

#include "bench/core/error.hpp"
#include "workloads/builder.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace mergewise {
namespace {

using testing::ElementsAre;

std::vector<std::int64_t> sizes(const Gemm& gemm) { return {gemm.m, gemm.n, gemm.k, gemm.count}; }

std::int64_t macs(const std::vector<Gemm>& gemms) {
  std::int64_t sum = 0;
  for (const Gemm& gemm : gemms) {
    sum += gemm.macs();
  }
  return sum;
}

TEST(LayerWork, TurnsAConvolutionIntoProductsOfTheBatch) {
  Builder net("net", {3, 8, 8});
  const Value x = net.conv2d("conv1", net.input(), 4, square(3, 1, 1));
  net.conv2d("conv2", x, 6, square(3, 2, 1), {.bias = false});
  const std::vector<LayerWork> works = layer_work(net.build(), 10);
  ASSERT_EQ(works.size(), 2U);
  ASSERT_EQ(works[0].forward.size(), 1U);
  EXPECT_THAT(sizes(works[0].forward[0]), ElementsAre(640, 4, 27, 1));
  ASSERT_EQ(works[0].backward.size(), 1U) << "the first layer needs no gradient by its input";
  EXPECT_THAT(sizes(works[0].backward[0]), ElementsAre(27, 4, 640, 1));
  ASSERT_EQ(works[1].backward.size(), 2U);
  EXPECT_THAT(sizes(works[1].backward[0]), ElementsAre(36, 6, 160, 1));
  EXPECT_THAT(sizes(works[1].backward[1]), ElementsAre(160, 36, 6, 1));
  EXPECT_EQ(works[1].forward_bytes, 4 * (10 * (4 * 64 + 6 * 16) + 6 * 36));
  EXPECT_EQ(works[1].backward_bytes, 2 * works[1].forward_bytes);
}

TEST(LayerWork, MultipliesTheProductsOfAnAttentionNotTheirSize) {
  Builder net("net", {4, 6});
  const Value x = net.linear("fc", net.input(), 6);
  net.attention("attention", x, x, x, 2);
  const std::vector<LayerWork> works = layer_work(net.build(), 5);
  ASSERT_EQ(works.size(), 5U) << "fc, scores, softmax, dropout, context";
  const LayerWork& scores = works[1];
  const LayerWork& context = works[4];
  ASSERT_EQ(scores.forward.size(), 1U);
  EXPECT_THAT(sizes(scores.forward[0]), ElementsAre(4, 4, 3, 10));
  ASSERT_EQ(context.forward.size(), 1U);
  EXPECT_THAT(sizes(context.forward[0]), ElementsAre(4, 3, 4, 10));
  EXPECT_FALSE(scores.forward[0].batch_in_count);
  EXPECT_EQ(scores.backward.size(), 2U);
  EXPECT_DOUBLE_EQ(scores.backward_flops(), 2 * scores.forward_flops());
  EXPECT_EQ(works[2].input_elements, 5 * 2 * 4 * 4);
}

TEST(LayerWork, MovesOnlyTheRowsOfAnEmbeddingForwardButItsWholeGradientBackward) {
  Builder net("net", {4});
  net.embedding("words", net.input(), 1000, 8);
  const LayerWork work = layer_work(net.build(), 3).at(0);
  EXPECT_TRUE(work.forward.empty());
  EXPECT_EQ(work.row_elements, 8);
  EXPECT_EQ(work.forward_bytes, 4 * 3 * 2 * 32);
  EXPECT_EQ(work.backward_bytes, 4 * (3 * 3 * 32 + 8000)) << "dy, and rows of dw read and written";
}

TEST(LayerWork, AddsUpTheGradientsOfWhatWasJoined) {
  Builder net("net", {2, 4, 4});
  const Value x = net.conv2d("conv", net.input(), 3, square(1));
  net.concat("join", {x, x});
  const LayerWork work = layer_work(net.build(), 5).at(1);
  EXPECT_EQ(work.forward_bytes, 4 * 5 * 2 * 96);
  EXPECT_EQ(work.backward_bytes, 4 * 5 * 3 * 96);
}

TEST(LayerWork, CountsTheWeightOfATiedLayer) {
  Builder net("net", {4});
  const Value x = net.embedding("words", net.input(), 1000, 8);
  net.linear("decoder", x, 1000, {.tied_weight = "words.weight"});
  const LayerWork work = layer_work(net.build(), 1).at(1);
  EXPECT_EQ(work.forward_bytes, 4 * (32 + 4000 + 8000 + 1000));
}

TEST(LayerWork, HoldsTheModelsMacsTimesTheBatch) {
  for (const std::string& id : model_ids()) {
    const Model model = build_model(id);
    const std::vector<LayerWork> works = layer_work(model, 3);
    ASSERT_EQ(works.size(), model.layers.size());
    for (std::size_t index = 0; index < works.size(); ++index) {
      const Layer& layer = model.layers[index];
      EXPECT_EQ(works[index].layer, layer.name);
      EXPECT_EQ(works[index].kind, layer.kind);
      if (layer.kind != LayerKind::kAttention) {
        EXPECT_EQ(macs(works[index].forward), 3 * layer.macs) << id << " " << layer.name;
      }
      EXPECT_EQ(macs(works[index].backward), (layer.first ? 1 : 2) * macs(works[index].forward));
      EXPECT_GT(works[index].forward_bytes, 0) << id << " " << layer.name;
      EXPECT_GE(works[index].backward_bytes, works[index].forward_bytes);
    }
  }
}

TEST(LayerWork, RefusesAnImpossibleBatch) {
  const Model model = build_model("resnet18");
  EXPECT_THROW(static_cast<void>(layer_work(model, 0)), InputError);
  EXPECT_THROW(static_cast<void>(layer_work(model, (1 << 20) + 1)), InputError);
}

}  // namespace
}  // namespace mergewise
