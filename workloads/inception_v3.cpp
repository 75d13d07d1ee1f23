// SPDX-License-Identifier: Apache-2.0
// Inception-v3, with and without its auxiliary head.
#include "workloads/builder.hpp"
#include "workloads/families.hpp"

#include <string_view>

namespace mergewise {
namespace {

// Modules A to E, as the paper's figures 5, 10, 6, (unnamed) and 7 show them.

Value module_a(Builder& net, std::string_view name, const Value& x, std::int64_t pool_channels) {
  const auto scope = net.scope(name);
  const Value branch1x1 = conv_blocks(net, x, {{"branch1x1", 64, square(1)}});
  const Value branch5x5 =
      conv_blocks(net, x, {{"branch5x5_1", 48, square(1)}, {"branch5x5_2", 64, same(5, 5)}});
  const Value branch3x3dbl = conv_blocks(net, x,
                                         {{"branch3x3dbl_1", 64, square(1)},
                                          {"branch3x3dbl_2", 96, same(3, 3)},
                                          {"branch3x3dbl_3", 96, same(3, 3)}});
  const Value pooled = net.pool("pool", x, same(3, 3));
  const Value branch_pool = conv_blocks(net, pooled, {{"branch_pool", pool_channels, square(1)}});
  return net.concat("concat", {branch1x1, branch5x5, branch3x3dbl, branch_pool});
}

Value module_b(Builder& net, std::string_view name, const Value& x) {
  const auto scope = net.scope(name);
  const Value branch3x3 = conv_blocks(net, x, {{"branch3x3", 384, square(3, 2)}});
  const Value branch3x3dbl = conv_blocks(net, x,
                                         {{"branch3x3dbl_1", 64, square(1)},
                                          {"branch3x3dbl_2", 96, same(3, 3)},
                                          {"branch3x3dbl_3", 96, square(3, 2)}});
  const Value pooled = net.pool("pool", x, square(3, 2));
  return net.concat("concat", {branch3x3, branch3x3dbl, pooled});
}

Value module_c(Builder& net, std::string_view name, const Value& x, std::int64_t width) {
  const auto scope = net.scope(name);
  const Value branch1x1 = conv_blocks(net, x, {{"branch1x1", 192, square(1)}});
  const Value branch7x7 = conv_blocks(net, x,
                                      {{"branch7x7_1", width, square(1)},
                                       {"branch7x7_2", width, same(1, 7)},
                                       {"branch7x7_3", 192, same(7, 1)}});
  const Value branch7x7dbl = conv_blocks(net, x,
                                         {{"branch7x7dbl_1", width, square(1)},
                                          {"branch7x7dbl_2", width, same(7, 1)},
                                          {"branch7x7dbl_3", width, same(1, 7)},
                                          {"branch7x7dbl_4", width, same(7, 1)},
                                          {"branch7x7dbl_5", 192, same(1, 7)}});
  const Value pooled = net.pool("pool", x, same(3, 3));
  const Value branch_pool = conv_blocks(net, pooled, {{"branch_pool", 192, square(1)}});
  return net.concat("concat", {branch1x1, branch7x7, branch7x7dbl, branch_pool});
}

Value module_d(Builder& net, std::string_view name, const Value& x) {
  const auto scope = net.scope(name);
  const Value branch3x3 =
      conv_blocks(net, x, {{"branch3x3_1", 192, square(1)}, {"branch3x3_2", 320, square(3, 2)}});
  const Value branch7x7x3 = conv_blocks(net, x,
                                        {{"branch7x7x3_1", 192, square(1)},
                                         {"branch7x7x3_2", 192, same(1, 7)},
                                         {"branch7x7x3_3", 192, same(7, 1)},
                                         {"branch7x7x3_4", 192, square(3, 2)}});
  const Value pooled = net.pool("pool", x, square(3, 2));
  return net.concat("concat", {branch3x3, branch7x7x3, pooled});
}

Value module_e(Builder& net, std::string_view name, const Value& x) {
  const auto scope = net.scope(name);
  const Value branch1x1 = conv_blocks(net, x, {{"branch1x1", 320, square(1)}});
  Value stem = conv_blocks(net, x, {{"branch3x3_1", 384, square(1)}});
  const Value left = conv_blocks(net, stem, {{"branch3x3_2a", 384, same(1, 3)}});
  const Value right = conv_blocks(net, stem, {{"branch3x3_2b", 384, same(3, 1)}});
  const Value branch3x3 = net.concat("branch3x3.concat", {left, right});
  stem = conv_blocks(net, x,
                     {{"branch3x3dbl_1", 448, square(1)}, {"branch3x3dbl_2", 384, same(3, 3)}});
  const Value left_dbl = conv_blocks(net, stem, {{"branch3x3dbl_3a", 384, same(1, 3)}});
  const Value right_dbl = conv_blocks(net, stem, {{"branch3x3dbl_3b", 384, same(3, 1)}});
  const Value branch3x3dbl = net.concat("branch3x3dbl.concat", {left_dbl, right_dbl});
  const Value pooled = net.pool("pool", x, same(3, 3));
  const Value branch_pool = conv_blocks(net, pooled, {{"branch_pool", 192, square(1)}});
  return net.concat("concat", {branch1x1, branch3x3, branch3x3dbl, branch_pool});
}

void add_auxiliary_head(Builder& net, const Value& x) {
  const auto scope = net.scope("AuxLogits");
  Value y = net.pool("pool", x, square(5, 3));
  y = conv_blocks(net, y, {{"conv0", 128, square(1)}, {"conv1", 768, square(5)}});
  net.linear("fc", flatten(net.adaptive_pool("avgpool", y, 1)), 1000);
}

}  // namespace

Model inception_v3(bool auxiliary_head, const ModelArguments& arguments) {
  const char* name = auxiliary_head ? "inception_v3" : "inception_v3_noaux";
  const std::int64_t size = image_size_for(name, arguments, 299);
  Builder net(name, {3, size, size});

  Value x = conv_blocks(net, net.input(),
                        {{"Conv2d_1a_3x3", 32, square(3, 2)},
                         {"Conv2d_2a_3x3", 32, square(3)},
                         {"Conv2d_2b_3x3", 64, same(3, 3)}});
  x = net.pool("maxpool1", x, square(3, 2));
  x = conv_blocks(net, x, {{"Conv2d_3b_1x1", 80, square(1)}, {"Conv2d_4a_3x3", 192, square(3)}});
  x = net.pool("maxpool2", x, square(3, 2));
  x = module_a(net, "Mixed_5b", x, 32);
  x = module_a(net, "Mixed_5c", x, 64);
  x = module_a(net, "Mixed_5d", x, 64);
  x = module_b(net, "Mixed_6a", x);
  x = module_c(net, "Mixed_6b", x, 128);
  x = module_c(net, "Mixed_6c", x, 160);
  x = module_c(net, "Mixed_6d", x, 160);
  x = module_c(net, "Mixed_6e", x, 192);
  if (auxiliary_head) {
    add_auxiliary_head(net, x);
  }
  x = module_d(net, "Mixed_7a", x);
  x = module_e(net, "Mixed_7b", x);
  x = module_e(net, "Mixed_7c", x);
  x = flatten(net.adaptive_pool("avgpool", x, 1));
  net.linear("fc", net.activation("dropout", x), 1000);
  return net.build();
}

}  // namespace mergewise
