// SPDX-License-Identifier: Apache-2.0
// VGG-11 to VGG-19.
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
  std::array<int, 5> convolutions;  // of each stage, before its pooling
};
constexpr std::array<Member, 4> kMembers{
    {{11, {1, 1, 2, 2, 2}}, {13, {2, 2, 2, 2, 2}}, {16, {2, 2, 3, 3, 3}}, {19, {2, 2, 4, 4, 4}}}};
constexpr std::array<std::int64_t, 5> kWidths{64, 128, 256, 512, 512};

const Member& member_of(int depth) {
  for (const Member& member : kMembers) {
    if (member.depth == depth) {
      return member;
    }
  }
  MERGEWISE_CHECK(false, "no VGG of this depth");
}

}  // namespace

Model vgg(int depth, const ModelArguments& arguments) {
  const Member& member = member_of(depth);
  const std::string name = fmt::format("vgg{}", depth);
  const std::int64_t size = image_size_for(name, arguments, 224);
  Builder net(name, {3, size, size});

  Value x = net.input();
  {
    const auto scope = net.scope("features");
    int module = 0;
    for (std::size_t stage = 0; stage < kWidths.size(); ++stage) {
      for (int convolution = 0; convolution < member.convolutions[stage]; ++convolution) {
        x = net.conv2d(std::to_string(module++), x, kWidths[stage], square(3, 1, 1));
        x = net.activation(std::to_string(module++), x);
      }
      x = net.pool(std::to_string(module++), x, square(2, 2));
    }
  }
  x = flatten(net.adaptive_pool("avgpool", x, 7));
  const auto scope = net.scope("classifier");
  x = net.activation("1", net.linear("0", x, 4096));
  x = net.activation("2", x);  // dropout
  x = net.activation("4", net.linear("3", x, 4096));
  x = net.activation("5", x);  // dropout
  net.linear("6", x, 1000);
  return net.build();
}

}  // namespace mergewise
