// SPDX-License-Identifier: Apache-2.0
// The CUDA primitives that visit elements and add them up, against plain loops.
#include "kernels/primitives/cuda/cuda_primitives.cuh"
#include "tests/unit/simt/layouts.hpp"
#include "tests/unit/simt/orders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace mergewise {
namespace {

using testing::Each;

class CudaElements : public InEveryOrder {
 protected:
  // NOLINTBEGIN(cppcoreguidelines-non-private-member-variables-in-classes)
  DeviceMemory scratch_;
  CudaPrimitives on_{nullptr, &scratch_};
  // NOLINTEND(cppcoreguidelines-non-private-member-variables-in-classes)
};
INSTANTIATE_TEST_SUITE_P(Orders, CudaElements, every_order(), order_name);

TEST_P(CudaElements, AreVisitedOnceEach) {
  for (const std::size_t n : {0, 1, 31, 32, 33, 1000, 5001}) {
    std::vector<int> visits(n + 1, 0);
    int* const counts = visits.data();
    on_.for_each(n, [=](std::uint64_t i) { ++counts[i]; });
    EXPECT_EQ(visits.back(), 0);
    visits.pop_back();
    EXPECT_THAT(visits, Each(1)) << n;
  }
}

TEST_P(CudaElements, AreVisitedIfSomethingWasCounted) {
  std::vector<int> visits(100, 0);
  int* const counts = visits.data();
  const MessageFacts facts[] = {{7, 0, 0}, {7, 1, 0}, {7, 0, 1}};
  for (const MessageFacts& one : facts) {
    on_.for_each_if(&one, visits.size(), [=](std::uint64_t i) { ++counts[i]; });
  }
  EXPECT_THAT(visits, Each(2));
}

TEST_P(CudaElements, KnowTheirTensor) {
  const GroupLayout layout(3, kAwkward);
  for (const GroupView& group : views_of(layout)) {
    std::vector<std::uint32_t> tensors(layout.elements(), 9999);
    std::uint32_t* const seen = tensors.data();
    on_.for_each_element(group, [=](std::uint64_t i, std::uint32_t tensor) { seen[i] = tensor; });
    for (std::uint64_t i = 0; i < tensors.size(); ++i) {
      ASSERT_EQ(tensors[i], tensor_of(group, i)) << i << " of pieces of " << group.piece;
    }
  }
}

TEST_P(CudaElements, ThatAreNotFiniteAreCountedAndCountAsZero) {
  const std::vector<float> values = numbers(3001, false);
  std::vector<float> cleaned(values.size(), 7.0F);
  MessageFacts facts{5, 100, 200};
  const float* const from = values.data();
  float* const to = cleaned.data();
  on_.for_each_counted(
      values.size(), [=](std::uint64_t i) { return from[i]; },
      [=](std::uint64_t i, float x) { to[i] = x; }, &facts);
  std::uint64_t nans = 0;
  std::uint64_t infinities = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    nans += std::isnan(values[i]) ? 1 : 0;
    infinities += std::isinf(values[i]) ? 1 : 0;
    ASSERT_EQ(cleaned[i], std::isfinite(values[i]) ? values[i] : 0.0F);
  }
  EXPECT_GT(nans, 100U);
  EXPECT_EQ(facts.nans, 100 + nans);
  EXPECT_EQ(facts.infinities, 200 + infinities);
  EXPECT_EQ(facts.bytes, 5U);
}

// Three sums, so that their places are mixed up if anything is.
struct ThreeSums {
  Sums<float, 3> operator()(float x) const { return {{x, x * x, 1.0F}}; }
};

// The stated order, written out.
std::vector<double> sums_in_order(const GroupView& group, const std::vector<float>& values) {
  std::vector<double> totals(std::size_t{3} * group.tensors, 0.0);
  for (std::uint64_t c = 0; c < group.chunk_count; ++c) {
    const Chunk chunk = chunk_of(group, c);
    for (std::size_t s = 0; s < 3; ++s) {
      float lanes[32] = {};
      for (std::uint32_t j = 0; j < chunk.count; ++j) {
        const float x = values[chunk.begin + j];
        lanes[j % 32] += ThreeSums{}(std::isfinite(x) ? x : 0.0F).value[s];
      }
      for (std::size_t half = 16; half > 0; half /= 2) {
        for (std::size_t l = 0; l < half; ++l) lanes[l] += lanes[l + half];
      }
      totals[3 * chunk.tensor + s] += static_cast<double>(lanes[0]);
    }
  }
  return totals;
}

TEST_P(CudaElements, AreAddedUpInTheStatedOrder) {
  const GroupLayout layout(0, kAwkward);
  const std::vector<float> values = numbers(layout.elements(), false);
  const float* const from = values.data();
  for (const GroupView& group : views_of(layout)) {
    std::vector<double> totals(std::size_t{3} * group.tensors, -1.0);
    MessageFacts facts;
    on_.sums_by_tensor(
        group, [=](std::uint64_t i) { return from[i]; }, ThreeSums{}, totals.data(), &facts);
    EXPECT_EQ(totals, sums_in_order(group, values)) << "pieces of " << group.piece;
    EXPECT_EQ(facts.nans, static_cast<std::uint64_t>(std::count_if(
                              values.begin(), values.end(), [](float x) { return x != x; })));
  }
}

TEST(CudaSums, OfManyChunksAreAddedInTurn) {
  const GroupLayout layout(0, {std::size_t{kChunk} * 70 + 9});  // more than two warps read at once
  std::vector<float> values = numbers(layout.elements());
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] *= std::ldexp(1.0F, static_cast<int>(i / kChunk) % 20);
  const float* const from = values.data();
  DeviceMemory scratch;
  std::vector<double> totals(3, -1.0);
  CudaPrimitives(nullptr, &scratch)
      .sums_by_tensor(
          layout.view(), [=](std::uint64_t i) { return from[i]; }, ThreeSums{}, totals.data(),
          nullptr);
  EXPECT_EQ(totals, sums_in_order(layout.view(), values));
}

TEST_P(CudaElements, LargestMagnitudesAreLimited) {
  const GroupLayout layout(0, kAwkward);
  const std::vector<float> values = numbers(layout.elements(), false);
  const float* const from = values.data();
  for (const GroupView& group : views_of(layout)) {
    std::vector<float> limits(group.tensors);
    for (std::size_t t = 0; t < limits.size(); ++t) limits[t] = t % 2 == 0 ? 1.25F : 9.0F;
    std::vector<float> expected(group.tensors, 0.0F);
    for (std::uint64_t i = 0; i < values.size(); ++i) {
      float& most = expected[tensor_of(group, i)];
      if (std::isfinite(values[i])) most = std::max(most, std::fabs(values[i]));
    }
    for (std::size_t t = 0; t < limits.size(); ++t) expected[t] = std::min(expected[t], limits[t]);
    std::vector<float> largest(group.tensors, -1.0F);
    on_.largest_by_tensor(
        group, [=](std::uint64_t i) { return from[i]; }, limits.data(), largest.data());
    EXPECT_EQ(bits(largest), bits(expected)) << "pieces of " << group.piece;
  }
}

TEST(CudaPrimitivesOnNothing, LaunchNothing) {
  const GroupLayout layout(0, {0, 0});
  DeviceMemory scratch;
  const CudaPrimitives on(nullptr, &scratch);
  const auto source = [](std::uint64_t) { return 1.0F; };
  on.for_each_element(layout.view(), [](std::uint64_t, std::uint32_t) {});
  on.sums_by_tensor(layout.view(), source, ThreeSums{}, nullptr, nullptr);
  on.largest_by_tensor(layout.view(), source, nullptr, nullptr);
  EXPECT_EQ(scratch.size(), 0U);
}

TEST(LaunchShapes, HaveWholeWarpsAndNoMoreThanTheyNeed) {
  for (const std::uint64_t n : {std::uint64_t{1}, std::uint64_t{31}, std::uint64_t{33},
                                std::uint64_t{1000}, std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
    const LaunchShape shape = shape_for(n);
    EXPECT_EQ(shape.block.x % kWarp, 0U);
    EXPECT_LE(shape.grid.x, 2048U);
    const std::uint64_t threads = shape.grid.count() * shape.block.count();
    EXPECT_TRUE(threads < n + 256 || shape.grid.x == 2048) << n;
  }
  EXPECT_EQ(shape_for_warps(~std::uint64_t{0}).grid.x, 2048U);
}

}  // namespace
}  // namespace mergewise
