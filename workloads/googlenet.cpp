// SPDX-License-Identifier: Apache-2.0
// GoogLeNet, with and without its auxiliary heads.
#include "workloads/builder.hpp"
#include "workloads/families.hpp"

#include <string_view>

namespace mergewise {
namespace {

/// Channels of an inception module; "5x5" is the paper's word, the module has a 3x3 there.
struct Inception {
  std::int64_t branch1;
  std::int64_t branch2_reduced;
  std::int64_t branch2;
  std::int64_t branch3_reduced;
  std::int64_t branch3;
  std::int64_t branch4;
};

/// 3x3 or 2x2, as GoogLeNet pools: no padding, but also a window that begins inside the image only.
Window down(std::int64_t kernel) {
  Window window = square(kernel, 2);
  window.ceil = true;
  return window;
}

Value inception(Builder& net, std::string_view name, const Value& x, const Inception& channels) {
  const auto scope = net.scope(name);
  const Value branch1 = conv_blocks(net, x, {{"branch1", channels.branch1, square(1)}});
  const Value branch2 = conv_blocks(net, x,
                                    {{"branch2.0", channels.branch2_reduced, square(1)},
                                     {"branch2.1", channels.branch2, same(3, 3)}});
  const Value branch3 = conv_blocks(net, x,
                                    {{"branch3.0", channels.branch3_reduced, square(1)},
                                     {"branch3.1", channels.branch3, same(3, 3)}});
  const Value pooled = net.pool("branch4.0", x, same(3, 3));
  const Value branch4 = conv_blocks(net, pooled, {{"branch4.1", channels.branch4, square(1)}});
  return net.concat("concat", {branch1, branch2, branch3, branch4});
}

void add_auxiliary_head(Builder& net, std::string_view name, const Value& x) {
  const auto scope = net.scope(name);
  const Value pooled = net.adaptive_pool("avgpool", x, 4);
  Value y = flatten(conv_blocks(net, pooled, {{"conv", 128, square(1)}}));
  y = net.activation("relu", net.linear("fc1", y, 1024));
  net.linear("fc2", net.activation("dropout", y), 1000);
}

}  // namespace

Model googlenet(bool auxiliary_heads, const ModelArguments& arguments) {
  const char* name = auxiliary_heads ? "googlenet" : "googlenet_noaux";
  const std::int64_t size = image_size_for(name, arguments, 224);
  Builder net(name, {3, size, size});

  Value x = conv_blocks(net, net.input(), {{"conv1", 64, square(7, 2, 3)}});
  x = net.pool("maxpool1", x, down(3));
  x = conv_blocks(net, x, {{"conv2", 64, square(1)}, {"conv3", 192, same(3, 3)}});
  x = net.pool("maxpool2", x, down(3));
  x = inception(net, "inception3a", x, {64, 96, 128, 16, 32, 32});
  x = inception(net, "inception3b", x, {128, 128, 192, 32, 96, 64});
  x = net.pool("maxpool3", x, down(3));
  x = inception(net, "inception4a", x, {192, 96, 208, 16, 48, 64});
  if (auxiliary_heads) {
    add_auxiliary_head(net, "aux1", x);
  }
  x = inception(net, "inception4b", x, {160, 112, 224, 24, 64, 64});
  x = inception(net, "inception4c", x, {128, 128, 256, 24, 64, 64});
  x = inception(net, "inception4d", x, {112, 144, 288, 32, 64, 64});
  if (auxiliary_heads) {
    add_auxiliary_head(net, "aux2", x);
  }
  x = inception(net, "inception4e", x, {256, 160, 320, 32, 128, 128});
  x = net.pool("maxpool4", x, down(2));
  x = inception(net, "inception5a", x, {256, 160, 320, 32, 128, 128});
  x = inception(net, "inception5b", x, {384, 192, 384, 48, 128, 128});
  x = flatten(net.adaptive_pool("avgpool", x, 1));
  net.linear("fc", net.activation("dropout", x), 1000);
  if (auxiliary_heads) {  // they run earlier than they are defined
    net.define_before("aux1.", "fc.");
    net.define_before("aux2.", "fc.");
  }
  return net.build();
}

}  // namespace mergewise
