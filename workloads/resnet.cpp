// SPDX-License-Identifier: Apache-2.0
// ResNet-18 to ResNet-152.
#include "bench/core/error.hpp"
#include "workloads/builder.hpp"
#include "workloads/families.hpp"

#include <fmt/format.h>

#include <array>
#include <string>

namespace mergewise {
namespace {

struct Member {
  int depth;
  bool bottleneck;
  std::array<int, 4> blocks;
};
constexpr std::array<Member, 5> kMembers{{{18, false, {2, 2, 2, 2}},
                                          {34, false, {3, 4, 6, 3}},
                                          {50, true, {3, 4, 6, 3}},
                                          {101, true, {3, 4, 23, 3}},
                                          {152, true, {3, 8, 36, 3}}}};

const Member& member_of(int depth) {
  for (const Member& member : kMembers) {
    if (member.depth == depth) {
      return member;
    }
  }
  MERGEWISE_CHECK(false, "no ResNet of this depth");
}

constexpr ConvOptions kNoBias{.bias = false};

Value residual_block(Builder& net, const Value& x, bool bottleneck, std::int64_t width,
                     std::int64_t stride) {
  const std::int64_t out_channels = bottleneck ? 4 * width : width;
  Value y = x;
  if (bottleneck) {
    y = net.conv2d("conv1", y, width, square(1), kNoBias);
    y = net.activation("relu", net.batch_norm("bn1", y));
    y = net.conv2d("conv2", y, width, square(3, stride, 1), kNoBias);
    y = net.activation("relu", net.batch_norm("bn2", y));
    y = net.conv2d("conv3", y, out_channels, square(1), kNoBias);
    y = net.batch_norm("bn3", y);
  } else {
    y = net.conv2d("conv1", y, width, square(3, stride, 1), kNoBias);
    y = net.activation("relu", net.batch_norm("bn1", y));
    y = net.conv2d("conv2", y, width, square(3, 1, 1), kNoBias);
    y = net.batch_norm("bn2", y);
  }
  Value identity = x;
  if (stride != 1 || x.shape[0] != out_channels) {
    identity = net.conv2d("downsample.0", x, out_channels, square(1, stride), kNoBias);
    identity = net.batch_norm("downsample.1", identity);
  }
  return net.activation("relu", net.add("add", {y, identity}));
}

}  // namespace

Model resnet(int depth, const ModelArguments& arguments) {
  const Member& member = member_of(depth);
  const std::string name = fmt::format("resnet{}", depth);
  const std::int64_t size = image_size_for(name, arguments, 224);
  Builder net(name, {3, size, size});

  Value x = net.conv2d("conv1", net.input(), 64, square(7, 2, 3), kNoBias);
  x = net.activation("relu", net.batch_norm("bn1", x));
  x = net.pool("maxpool", x, square(3, 2, 1));
  std::int64_t width = 64;
  for (int stage = 0; stage < 4; ++stage, width *= 2) {
    for (int block = 0; block < member.blocks[static_cast<std::size_t>(stage)]; ++block) {
      const auto scope = net.scope(fmt::format("layer{}.{}", stage + 1, block));
      x = residual_block(net, x, member.bottleneck, width, stage > 0 && block == 0 ? 2 : 1);
    }
  }
  x = net.adaptive_pool("avgpool", x, 1);
  net.linear("fc", flatten(x), 1000);
  return net.build();
}

}  // namespace mergewise
