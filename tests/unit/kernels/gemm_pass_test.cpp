// SPDX-License-Identifier: Apache-2.0
#include "kernels/compute/gemm_pass.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace mergewise {
namespace {

constexpr float kUntouched = -99.0F;

// Small integers: every product is exact in fp32, whatever the order of the additions.
std::vector<float> integers(std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 7 % 11) - 5;
  return values;
}

std::vector<float> expected(const ProductCall& call, const std::vector<float>& inputs) {
  std::vector<float> outputs(static_cast<std::size_t>(call.c_floats() * call.count));
  const float* b_start = inputs.data() + call.a_floats() * call.count;
  for (std::int64_t p = 0; p < call.count; ++p) {
    const float* a = inputs.data() + p * call.a_floats();
    const float* b = b_start + p * call.b_floats();
    float* c = outputs.data() + p * call.c_floats();
    for (int i = 0; i < call.m; ++i) {
      for (int j = 0; j < call.n; ++j) {
        float sum = 0;
        for (int l = 0; l < call.k; ++l) sum += a[i * call.k + l] * b[l * call.n + j];
        c[i * call.n + j] = sum;
      }
    }
  }
  return outputs;
}

TEST(GemmPass, ProductsAreRightForEveryCount) {
  const std::vector<ProductCall> calls{{1, 1, 1, 1}, {3, 4, 5, 1},   {4, 3, 2, 3},
                                       {1, 7, 9, 2}, {17, 1, 33, 4}, {40, 24, 16, 12}};
  for (const ProductCall& call : calls) {
    SCOPED_TRACE(testing::Message() << call.m << " x " << call.n << " x " << call.k);
    const auto inputs = integers((call.a_floats() + call.b_floats()) * call.count);
    std::vector<float> outputs(static_cast<std::size_t>(call.c_floats() * call.count + 8),
                               kUntouched);
    GemmPass pass;
    pass.products = {call};
    run_gemm_pass(pass, inputs.data(), outputs.data());
    std::vector<float> wanted = expected(call, inputs);
    wanted.resize(outputs.size(), kUntouched);
    EXPECT_EQ(outputs, wanted);
  }
}

TEST(GemmPass, RunsAllProductsOfAPassInOrder) {
  GemmPass pass;
  pass.products = {{8, 8, 8, 1}, {2, 2, 3, 1}};
  const auto inputs = integers(200);
  std::vector<float> outputs(64, kUntouched);
  run_gemm_pass(pass, inputs.data(), outputs.data());
  // The second overwrites the start of the first one's output.
  std::vector<float> wanted = expected(pass.products[0], inputs);
  const std::vector<float> second = expected(pass.products[1], inputs);
  std::copy(second.begin(), second.end(), wanted.begin());
  EXPECT_EQ(outputs, wanted);
}

TEST(GemmPass, SweepsAsManyFloatsAsItSays) {
  GemmPass pass;
  pass.swept_floats = 100;
  const auto inputs = integers(128);
  std::vector<float> outputs(128, kUntouched);
  run_gemm_pass(pass, inputs.data(), outputs.data());
  for (std::size_t i = 0; i < 128; ++i) {
    EXPECT_EQ(outputs[i], i < 100 ? 0.5F * inputs[i] : kUntouched) << i;
  }
}

}  // namespace
}  // namespace mergewise
