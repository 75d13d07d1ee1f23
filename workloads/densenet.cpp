// SPDX-License-Identifier: Apache-2.0
// DenseNet-121 to DenseNet-201.
#include "bench/core/error.hpp"
#include "workloads/builder.hpp"
#include "workloads/families.hpp"

#include <fmt/format.h>

#include <array>
#include <vector>

namespace mergewise {
namespace {

struct Member {
  int depth;
  std::int64_t growth;
  std::int64_t first_channels;
  std::array<int, 4> layers;  // of each block
};
constexpr std::array<Member, 4> kMembers{{{121, 32, 64, {6, 12, 24, 16}},
                                          {161, 48, 96, {6, 12, 36, 24}},
                                          {169, 32, 64, {6, 12, 32, 32}},
                                          {201, 32, 64, {6, 12, 48, 32}}}};
constexpr std::int64_t kBottleneck = 4;  // channels of the 1x1 convolution, in growths
constexpr ConvOptions kNoBias{.bias = false};

const Member& member_of(int depth) {
  for (const Member& member : kMembers) {
    if (member.depth == depth) {
      return member;
    }
  }
  MERGEWISE_CHECK(false, "no DenseNet of this depth");
}

/// Each layer reads all that is before it in the block, copied into one image (of one, too).
Value dense_block(Builder& net, const Value& x, int layers, std::int64_t growth) {
  std::vector<Value> features{x};
  for (int layer = 1; layer <= layers; ++layer) {
    const auto scope = net.scope(fmt::format("denselayer{}", layer));
    Value y = net.concat("concat", features);
    y = net.activation("relu1", net.batch_norm("norm1", y));
    y = net.conv2d("conv1", y, kBottleneck * growth, square(1), kNoBias);
    y = net.activation("relu2", net.batch_norm("norm2", y));
    features.push_back(net.conv2d("conv2", y, growth, same(3, 3), kNoBias));
  }
  return net.concat("concat", features);
}

Value transition(Builder& net, const Value& x) {
  Value y = net.activation("relu", net.batch_norm("norm", x));
  y = net.conv2d("conv", y, x.shape[0] / 2, square(1), kNoBias);
  return net.pool("pool", y, square(2, 2));
}

Value features(Builder& net, const Member& member) {
  const auto scope = net.scope("features");
  Value x = net.conv2d("conv0", net.input(), member.first_channels, square(7, 2, 3), kNoBias);
  x = net.activation("relu0", net.batch_norm("norm0", x));
  x = net.pool("pool0", x, square(3, 2, 1));
  for (std::size_t block = 0; block < member.layers.size(); ++block) {
    if (block > 0) {
      const auto inner = net.scope(fmt::format("transition{}", block));
      x = transition(net, x);
    }
    const auto inner = net.scope(fmt::format("denseblock{}", block + 1));
    x = dense_block(net, x, member.layers[block], member.growth);
  }
  return net.batch_norm("norm5", x);
}

}  // namespace

Model densenet(int depth, const ModelArguments& arguments) {
  const Member& member = member_of(depth);
  const std::string name = fmt::format("densenet{}", depth);
  const std::int64_t size = image_size_for(name, arguments, 224);
  Builder net(name, {3, size, size});
  const Value x = net.activation("relu", features(net, member));
  net.linear("classifier", flatten(net.adaptive_pool("avgpool", x, 1)), 1000);
  return net.build();
}

}  // namespace mergewise
