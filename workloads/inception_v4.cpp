// SPDX-License-Identifier: Apache-2.0
// Inception-v4.
#include "workloads/builder.hpp"
#include "workloads/families.hpp"

#include <string>

namespace mergewise {
namespace {

// The stem joins twice a pooled and a convolved image (modules 3 and 5), once two chains (4).

Value stem(Builder& net) {
  Value x = conv_blocks(net, net.input(),
                        {{"0", 32, square(3, 2)}, {"1", 32, square(3)}, {"2", 64, same(3, 3)}});
  Value pooled = net.pool("3.maxpool", x, square(3, 2));
  Value convolved = conv_blocks(net, x, {{"3.conv", 96, square(3, 2)}});
  x = net.concat("3.concat", {pooled, convolved});
  const Value branch0 =
      conv_blocks(net, x, {{"4.branch0.0", 64, square(1)}, {"4.branch0.1", 96, square(3)}});
  const Value branch1 = conv_blocks(net, x,
                                    {{"4.branch1.0", 64, square(1)},
                                     {"4.branch1.1", 64, same(1, 7)},
                                     {"4.branch1.2", 64, same(7, 1)},
                                     {"4.branch1.3", 96, square(3)}});
  x = net.concat("4.concat", {branch0, branch1});
  convolved = conv_blocks(net, x, {{"5.conv", 192, square(3, 2)}});
  pooled = net.pool("5.maxpool", x, square(3, 2));
  return net.concat("5.concat", {convolved, pooled});
}

Value inception_a(Builder& net, const Value& x) {
  const Value branch0 = conv_blocks(net, x, {{"branch0", 96, square(1)}});
  const Value branch1 =
      conv_blocks(net, x, {{"branch1.0", 64, square(1)}, {"branch1.1", 96, same(3, 3)}});
  const Value branch2 = conv_blocks(
      net, x,
      {{"branch2.0", 64, square(1)}, {"branch2.1", 96, same(3, 3)}, {"branch2.2", 96, same(3, 3)}});
  const Value pooled = net.pool("branch3.0", x, same(3, 3));
  const Value branch3 = conv_blocks(net, pooled, {{"branch3.1", 96, square(1)}});
  return net.concat("concat", {branch0, branch1, branch2, branch3});
}

Value reduction_a(Builder& net, const Value& x) {
  const Value branch0 = conv_blocks(net, x, {{"branch0", 384, square(3, 2)}});
  const Value branch1 = conv_blocks(net, x,
                                    {{"branch1.0", 192, square(1)},
                                     {"branch1.1", 224, same(3, 3)},
                                     {"branch1.2", 256, square(3, 2)}});
  return net.concat("concat", {branch0, branch1, net.pool("branch2", x, square(3, 2))});
}

Value inception_b(Builder& net, const Value& x) {
  const Value branch0 = conv_blocks(net, x, {{"branch0", 384, square(1)}});
  const Value branch1 = conv_blocks(net, x,
                                    {{"branch1.0", 192, square(1)},
                                     {"branch1.1", 224, same(1, 7)},
                                     {"branch1.2", 256, same(7, 1)}});
  const Value branch2 = conv_blocks(net, x,
                                    {{"branch2.0", 192, square(1)},
                                     {"branch2.1", 192, same(7, 1)},
                                     {"branch2.2", 224, same(1, 7)},
                                     {"branch2.3", 224, same(7, 1)},
                                     {"branch2.4", 256, same(1, 7)}});
  const Value pooled = net.pool("branch3.0", x, same(3, 3));
  const Value branch3 = conv_blocks(net, pooled, {{"branch3.1", 128, square(1)}});
  return net.concat("concat", {branch0, branch1, branch2, branch3});
}

Value reduction_b(Builder& net, const Value& x) {
  const Value branch0 =
      conv_blocks(net, x, {{"branch0.0", 192, square(1)}, {"branch0.1", 192, square(3, 2)}});
  const Value branch1 = conv_blocks(net, x,
                                    {{"branch1.0", 256, square(1)},
                                     {"branch1.1", 256, same(1, 7)},
                                     {"branch1.2", 320, same(7, 1)},
                                     {"branch1.3", 320, square(3, 2)}});
  return net.concat("concat", {branch0, branch1, net.pool("branch2", x, square(3, 2))});
}

Value inception_c(Builder& net, const Value& x) {
  const Value branch0 = conv_blocks(net, x, {{"branch0", 256, square(1)}});
  Value forked = conv_blocks(net, x, {{"branch1_0", 384, square(1)}});
  const Value left1 = conv_blocks(net, forked, {{"branch1_1a", 256, same(1, 3)}});
  const Value right1 = conv_blocks(net, forked, {{"branch1_1b", 256, same(3, 1)}});
  const Value branch1 = net.concat("branch1.concat", {left1, right1});
  forked = conv_blocks(net, x,
                       {{"branch2_0", 384, square(1)},
                        {"branch2_1", 448, same(3, 1)},
                        {"branch2_2", 512, same(1, 3)}});
  const Value left2 = conv_blocks(net, forked, {{"branch2_3a", 256, same(1, 3)}});
  const Value right2 = conv_blocks(net, forked, {{"branch2_3b", 256, same(3, 1)}});
  const Value branch2 = net.concat("branch2.concat", {left2, right2});
  const Value pooled = net.pool("branch3.0", x, same(3, 3));
  const Value branch3 = conv_blocks(net, pooled, {{"branch3.1", 256, square(1)}});
  return net.concat("concat", {branch0, branch1, branch2, branch3});
}

Value features(Builder& net) {
  const auto scope = net.scope("features");
  Value x = stem(net);
  int module = 6;
  const auto append = [&](Value (*part)(Builder&, const Value&), int times) {
    for (int time = 0; time < times; ++time) {
      const auto inner = net.scope(std::to_string(module++));
      x = part(net, x);
    }
  };
  append(inception_a, 4);
  append(reduction_a, 1);
  append(inception_b, 7);
  append(reduction_b, 1);
  append(inception_c, 3);
  return x;
}

}  // namespace

Model inception_v4(const ModelArguments& arguments) {
  const std::int64_t size = image_size_for("inception_v4", arguments, 299);
  Builder net("inception_v4", {3, size, size});
  const Value x = features(net);
  net.linear("last_linear", flatten(net.adaptive_pool("avgpool", x, 1)), 1000);
  return net.build();
}

}  // namespace mergewise
