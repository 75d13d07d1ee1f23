// SPDX-License-Identifier: Apache-2.0
// The kit that networks are built with.
#include "workloads/builder.hpp"

#include "bench/core/error.hpp"

#include <gmock/gmock.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace mergewise {
namespace {

using testing::ElementsAre;

std::vector<std::string> names(const Model& model) {
  std::vector<std::string> result;
  for (const TensorSpec& tensor : model.tensors) {
    result.push_back(tensor.name);
  }
  return result;
}

std::vector<std::string> ready(const Model& model) {
  std::vector<std::string> result;
  for (const std::size_t index : model.ready_order) {
    result.push_back(model.tensors[index].name);
  }
  return result;
}

TEST(Builder, InfersWindowsPerAxis) {
  Builder net("net", {3, 17, 9});
  const Value y =
      net.conv2d("conv", net.input(), 8, {.kernel = {1, 7}, .stride = {2, 1}, .padding = {0, 3}});
  EXPECT_THAT(y.shape, ElementsAre(8, 9, 9));
  EXPECT_THAT(net.pool("pool", y, square(3, 2)).shape, ElementsAre(8, 4, 4));
}

// Rounded up, a window may reach beyond the image, but must begin in it or in the padding before
// it.
TEST(Builder, RoundsPoolingUpAsPyTorchDoes) {
  const auto pooled = [](std::int64_t size, std::int64_t kernel, std::int64_t stride,
                         std::int64_t padding) {
    Builder net("net", {1, size, size});
    Window window = square(kernel, stride, padding);
    window.ceil = true;
    return net.pool("pool", net.input(), window).shape.back();
  };
  EXPECT_EQ(pooled(7, 3, 2, 0), 3);
  EXPECT_EQ(pooled(8, 3, 2, 0), 4);
  EXPECT_EQ(pooled(2, 3, 2, 0), 1);  // smaller than the window
  EXPECT_EQ(pooled(1, 2, 2, 0), 1);
  EXPECT_EQ(pooled(3, 2, 2, 1), 2);  // a third would begin in the padding behind
  EXPECT_EQ(pooled(5, 3, 1, 1), 5);
  EXPECT_THROW(pooled(1, 3, 2, 0), InputError);
}

TEST(Builder, KeepsTheImageInsideSameWindows) {
  Builder net("net", {1, 9, 5});
  EXPECT_THAT(net.conv2d("conv", net.input(), 4, same(1, 7)).shape, ElementsAre(4, 9, 5));
  EXPECT_THROW(static_cast<void>(same(2, 3)), std::logic_error);
}

TEST(Builder, ChainsConvolutionNormAndActivation) {
  Builder net("net", {3, 9, 9});
  const Value y = conv_blocks(net, net.input(), {{"a", 8, square(3)}, {"b", 4, square(1, 2)}});
  EXPECT_THAT(y.shape, ElementsAre(4, 4, 4));
  const Model model = net.build();
  std::vector<std::string> layers;
  for (const Layer& layer : model.layers) {
    layers.push_back(layer.name);
  }
  EXPECT_THAT(layers, ElementsAre("a.conv", "a.bn", "a.relu", "b.conv", "b.bn", "b.relu"));
  EXPECT_THAT(names(model), ElementsAre("a.conv.weight", "a.bn.weight", "a.bn.bias",
                                        "b.conv.weight", "b.bn.weight", "b.bn.bias"));
}

TEST(Builder, JoinsImagesAlongTheirChannels) {
  Builder net("net", {3, 4, 4});
  const Value a = net.conv2d("a", net.input(), 2, square(1));
  const Value b = net.conv2d("b", net.input(), 5, square(1));
  EXPECT_THAT(net.concat("concat", {a, b}).shape, ElementsAre(7, 4, 4));
  const Model model = net.build();
  EXPECT_EQ(model.layers.back().inputs, 7 * 16);
  EXPECT_EQ(model.layers.back().activations, 2 * 7 * 16);
}

TEST(Builder, GivesAGroupedConvolutionOneProductPerGroup) {
  Builder net("net", {8, 5, 5});
  net.conv2d("conv", net.input(), 4, square(3), {.groups = 2, .bias = false});
  const Model model = net.build();
  EXPECT_THAT(model.tensors.at(0).shape, ElementsAre(4, 4, 3, 3));
  const Gemm& gemm = model.layers.at(0).gemms.at(0);
  EXPECT_EQ(gemm.m, 9);
  EXPECT_EQ(gemm.n, 2);
  EXPECT_EQ(gemm.k, 36);
  EXPECT_EQ(gemm.count, 2);
  EXPECT_EQ(model.layers[0].macs, 9 * 36 * 4);
}

TEST(Builder, OrdersWeightAndBiasByKindOfLayer) {
  Builder net("net", {2, 4, 4});
  Value x = net.batch_norm("norm", net.conv2d("conv", net.input(), 2, square(1)));
  net.linear("fc", flatten(x), 3);
  EXPECT_THAT(ready(net.build()), ElementsAre("fc.bias", "fc.weight", "norm.weight", "norm.bias",
                                              "conv.weight", "conv.bias"));
}

TEST(Builder, KeepsReadyOrderWhenDefinitionOrderDiffers) {
  Builder net("net", {4});
  Value x = net.linear("body", net.input(), 4);
  net.linear("aux", x, 2);
  x = net.linear("head", x, 4);
  net.linear("last", x, 4, {.tied_weight = "head.weight"});
  net.define_before("aux.", "last.");
  const Model model = net.build();
  EXPECT_THAT(names(model), ElementsAre("body.weight", "body.bias", "head.weight", "head.bias",
                                        "aux.weight", "aux.bias", "last.bias"));
  EXPECT_THAT(ready(model), ElementsAre("last.bias", "head.bias", "head.weight", "aux.bias",
                                        "aux.weight", "body.bias", "body.weight"));
  EXPECT_THAT(model.layers.back().shared, ElementsAre(2));
}

TEST(Builder, MakesATiedWeightReadyWithItsFirstUse) {
  Builder net("net", {6});
  const Value x = net.embedding("words", net.input(), 10, 4);
  net.linear("decoder", x, 10, {.tied_weight = "words.weight", .bias_name = "bias"});
  const Model model = net.build();
  EXPECT_THAT(ready(model), ElementsAre("bias", "words.weight"));
  EXPECT_EQ(model.total_macs(), 6 * 4 * 10);
}

TEST(Builder, MarksOnlyLayersThatReadTheInputAsFirst) {
  Builder net("net", {1, 4, 4});
  const Value x = net.conv2d("conv1", net.input(), 2, square(1));
  net.conv2d("conv2", x, 2, square(1));
  const Model model = net.build();
  EXPECT_TRUE(model.layers.at(0).first);
  EXPECT_FALSE(model.layers.at(1).first);
}

TEST(Builder, NamesRepeatedCallsAndScopes) {
  Builder net("net", {4});
  Value x;
  {
    const auto outer = net.scope("outer");
    const auto inner = net.scope("inner");
    x = net.activation("relu", net.activation("relu", net.linear("fc", net.input(), 4)));
  }
  net.activation("relu", x);
  const Model model = net.build();
  EXPECT_EQ(model.layers.at(0).name, "outer.inner.fc");
  EXPECT_EQ(model.layers.at(1).name, "outer.inner.relu");
  EXPECT_EQ(model.layers.at(2).name, "outer.inner.relu:2");
  EXPECT_EQ(model.layers.at(3).name, "relu");
}

TEST(Builder, RefusesAnInputThatIsTooSmall) {
  Builder net("net", {1, 2, 2});
  EXPECT_THROW(net.pool("pool", net.input(), square(3)), InputError);
}

TEST(Builder, RefusesMistakesInANetwork) {
  Builder net("net", {4});
  const Value x = net.linear("fc", net.input(), 3);
  EXPECT_THROW(net.add("add", {x, net.input()}), std::logic_error);
  EXPECT_THROW(net.concat("concat", {{{2, 4, 4}}, {{2, 4, 5}}}), std::logic_error);
  EXPECT_THROW(net.linear("tied", x, 3, {.tied_weight = "missing"}), std::logic_error);
  EXPECT_THROW(net.linear("tied", x, 5, {.tied_weight = "fc.weight"}), std::logic_error);
  EXPECT_THROW(net.define_before("nothing", "fc"), std::logic_error);
}

}  // namespace
}  // namespace mergewise
