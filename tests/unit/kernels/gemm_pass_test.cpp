// SPDX-License-Identifier: Apache-2.0
#include "kernels/compute/gemm_pass.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <vector>

namespace mergewise {
namespace {

constexpr float kUntouched = -99.0F;
constexpr std::int64_t kGap = 5;  // between operands

using Floats = std::vector<float>;

// Small integers: every product is exact in fp32, whatever the order of the additions.
Floats integers(std::int64_t count) {
  Floats values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 7 % 11) - 5;
  return values;
}

Floats untouched(std::int64_t count) { return Floats(static_cast<std::size_t>(count), kUntouched); }

// A call whose operands follow one another, X first, both among what is read and what is written.
ProductCall call_of(ProductRole role, int m, int n, int k, int block_rows, std::int64_t count) {
  ProductCall call;
  call.role = role;
  call.m = m;
  call.n = n;
  call.k = k;
  call.block_rows = block_rows;
  call.count = count;
  call.w_begin = count * call.x_floats() + kGap;
  call.y_begin = call.w_begin + count * call.w_floats() + kGap;
  return call;
}

std::int64_t floats_of(const ProductCall& call) {
  return call.y_begin + call.count * call.y_floats() + kGap;
}

// The definition, row by row: row r of the windows is row r modulo block_rows of what is in memory.
Floats expected(const ProductCall& call, const Floats& inputs) {
  Floats outputs = untouched(floats_of(call));
  for (std::int64_t p = 0; p < call.count; ++p) {
    const auto x = [&](int r, int l) {
      return static_cast<std::size_t>(p * call.x_floats() + r % call.block_rows * call.k + l);
    };
    const auto w = [&](int j, int l) {
      return static_cast<std::size_t>(call.w_begin + p * call.w_floats() + j * call.k + l);
    };
    const auto y = [&](int r, int j) {
      return static_cast<std::size_t>(call.y_begin + p * call.y_floats() + r * call.n + j);
    };
    const auto dot = [](int terms, const auto& term) {
      float sum = 0;
      for (int i = 0; i < terms; ++i) sum += term(i);
      return sum;
    };
    for (int r = 0; r < call.m; ++r) {
      for (int j = 0; j < call.n && call.role == ProductRole::kForward; ++j) {
        outputs[y(r, j)] = dot(call.k, [&](int l) { return inputs[x(r, l)] * inputs[w(j, l)]; });
      }
      for (int l = 0; l < call.k && call.role == ProductRole::kInputGradient; ++l) {
        outputs[x(r, l)] = dot(call.n, [&](int j) { return inputs[y(r, j)] * inputs[w(j, l)]; });
      }
    }
    for (int j = 0; j < call.n && call.role == ProductRole::kWeightGradient; ++j) {
      for (int l = 0; l < call.k; ++l) {
        outputs[w(j, l)] = dot(call.m, [&](int r) { return inputs[y(r, j)] * inputs[x(r, l)]; });
      }
    }
  }
  return outputs;
}

void expect_right(ProductRole role) {
  struct Shape {
    int m, n, k, block_rows;
    std::int64_t count;
  };
  const std::vector<Shape> shapes{{1, 1, 1, 1, 1},      {3, 4, 5, 3, 1},    {7, 4, 5, 3, 1},
                                  {8, 3, 2, 4, 3},      {5, 7, 9, 1, 2},    {17, 1, 33, 16, 4},
                                  {40, 24, 16, 40, 12}, {100, 8, 27, 33, 2}};
  for (const auto& [m, n, k, block_rows, count] : shapes) {
    SCOPED_TRACE(testing::Message() << m << " x " << n << " x " << k << " by blocks of "
                                    << block_rows << " rows, " << count << " times");
    GemmPass pass;
    pass.products = {call_of(role, m, n, k, block_rows, count)};
    const Floats inputs = integers(floats_of(pass.products[0]));
    Floats outputs = untouched(floats_of(pass.products[0]));
    // Twice: what a pass leaves behind must not change the next one.
    for (int i = 0; i < 2; ++i) {
      run_gemm_pass(pass, inputs.data(), outputs.data());
      EXPECT_EQ(outputs, expected(pass.products[0], inputs));
    }
  }
}

TEST(GemmPass, ForwardProductsAreRightForEveryCountAndBlock) {
  expect_right(ProductRole::kForward);
}

TEST(GemmPass, GradientsByInputAreRightForEveryCountAndBlock) {
  expect_right(ProductRole::kInputGradient);
}

TEST(GemmPass, GradientsByWeightAreRightForEveryCountAndBlock) {
  expect_right(ProductRole::kWeightGradient);
}

TEST(GemmPass, RunsAllProductsOfAPassInOrder) {
  GemmPass pass;
  pass.products = {call_of(ProductRole::kForward, 8, 8, 8, 8, 1),
                   call_of(ProductRole::kForward, 2, 2, 3, 2, 1)};
  for (ProductCall& call : pass.products) call.y_begin = 0;
  const Floats inputs = integers(300);
  Floats outputs = untouched(floats_of(pass.products[0]));
  run_gemm_pass(pass, inputs.data(), outputs.data());
  // The second overwrites the start of the first one's output.
  Floats wanted = expected(pass.products[0], inputs);
  const Floats second = expected(pass.products[1], inputs);
  std::copy_n(second.begin(), 4, wanted.begin());
  EXPECT_EQ(outputs, wanted);
}

constexpr TableLookup kLookup{.rows = 5, .width = 3, .positions = 20};

TEST(GemmPass, GathersRowsOfATable) {
  GemmPass pass;
  pass.lookup = kLookup;
  const Floats table = integers(5 * 3);
  Floats outputs = untouched(20 * 3 + kGap);
  run_gemm_pass(pass, table.data(), outputs.data());
  Floats wanted = untouched(20 * 3 + kGap);
  for (std::size_t i = 0; i < 20 * 3; ++i) {
    const auto row = static_cast<std::size_t>(looked_up_row(static_cast<std::int64_t>(i / 3), 5));
    wanted[i] = table[row * 3 + i % 3];
  }
  EXPECT_EQ(outputs, wanted);
}

TEST(GemmPass, ScattersGradientsIntoATableOfZeros) {
  GemmPass pass;
  pass.lookup = kLookup;
  pass.lookup.scatter = true;
  const Floats gradients = integers(20 * 3);
  Floats wanted = untouched(5 * 3 + kGap);
  std::fill_n(wanted.begin(), 5 * 3, 0.0F);
  for (std::size_t i = 0; i < 20 * 3; ++i) {
    const auto row = static_cast<std::size_t>(looked_up_row(static_cast<std::int64_t>(i / 3), 5));
    wanted[row * 3 + i % 3] += gradients[i];
  }
  Floats outputs = untouched(5 * 3 + kGap);
  for (int i = 0; i < 2; ++i) {
    run_gemm_pass(pass, gradients.data(), outputs.data());
    EXPECT_EQ(outputs, wanted) << "pass " << i << ": sums must not grow from pass to pass";
  }
}

TEST(GemmPass, LooksUpRowsAllOverTheTable) {
  std::set<std::int64_t> rows;
  for (std::int64_t i = 0; i < 1000; ++i) rows.insert(looked_up_row(i, 30'522));
  EXPECT_GT(rows.size(), 950U);  // 1000 draws of 30522 without replacement: 16 repeat on average
  EXPECT_GE(*rows.begin(), 0);
  EXPECT_LT(*rows.begin(), 1000);
  EXPECT_GT(*rows.rbegin(), 29'000);
  EXPECT_LT(*rows.rbegin(), 30'522);
}

TEST(GemmPass, SweepsAsManyFloatsAsItSaysOverAndOver) {
  GemmPass pass;
  pass.sweep = {.floats = 100, .read_period = 32, .written_period = 48};
  const Floats inputs = integers(32);
  Floats outputs = untouched(48 + kGap);
  run_gemm_pass(pass, inputs.data(), outputs.data());
  Floats wanted = untouched(48 + kGap);
  for (std::size_t i = 0; i < 100; ++i) wanted[i % 48] = 0.5F * inputs[i % 32];
  EXPECT_EQ(outputs, wanted);
}

}  // namespace
}  // namespace mergewise
