// SPDX-License-Identifier: Apache-2.0
// Top-k, thresholds and the scans below them on CUDA, against plain loops.
#include "kernels/primitives/cuda/cuda_primitives.cuh"
#include "tests/unit/simt/layouts.hpp"
#include "tests/unit/simt/orders.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

namespace mergewise {
namespace {

struct Selection {
  std::vector<std::int64_t> indices;
  std::vector<std::uint32_t> values;  // their bits
  std::uint64_t selected = 99;
  std::uint64_t nans = 0;
  std::uint64_t infinities = 0;
  friend bool operator==(const Selection&, const Selection&) = default;
};

Selection plain_top_k(const std::vector<float>& values, std::uint64_t k) {
  std::vector<std::int64_t> order;
  Selection top;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) {
      ++top.nans;
    } else {
      order.push_back(static_cast<std::int64_t>(i));
    }
  }
  const auto magnitude = [&](std::int64_t i) {
    return std::fabs(values[static_cast<std::size_t>(i)]);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t a, std::int64_t b) { return magnitude(a) > magnitude(b); });
  order.resize(std::min<std::size_t>(k, order.size()));
  std::sort(order.begin(), order.end());
  top.selected = order.size();
  for (const std::int64_t i : order) {
    top.values.push_back(bits_of(values[static_cast<std::size_t>(i)]));
  }
  top.indices = order;
  top.indices.resize(k, kNoIndex);
  top.values.resize(k, 0);
  for (const float value : values) top.infinities += std::isinf(value) ? 1 : 0;
  if (k == 0) top.nans = top.infinities = 0;  // nothing is looked at
  return top;
}

template <typename Index>
Selection cuda_top_k(const std::vector<float>& values, std::uint64_t k, DeviceMemory& scratch) {
  std::vector<Index> indices(k + 1, 55);
  std::vector<float> sent(k + 1, 55.0F);
  const SparseEntries entries{reinterpret_cast<std::byte*>(indices.data()),
                              reinterpret_cast<std::byte*>(sent.data()), sizeof(Index)};
  Selection top;
  MessageFacts facts;
  CudaPrimitives(nullptr, &scratch)
      .top_k(values.data(), values.size(), k, entries, &facts, &top.selected);
  EXPECT_EQ(indices.back(), 55) << "nothing is written behind k entries";
  EXPECT_EQ(sent.back(), 55.0F);
  top.indices.assign(indices.begin(), indices.end() - 1);
  for (std::uint64_t j = 0; j < k; ++j) top.values.push_back(bits_of(sent[j]));
  top.nans = facts.nans;
  top.infinities = facts.infinities;
  return top;
}

void expect_top_k(const std::vector<float>& values, DeviceMemory& scratch) {
  const std::uint64_t n = values.size();
  for (const std::uint64_t k : {std::uint64_t{0}, std::uint64_t{1}, n / 100, n / 2, n, n + 3}) {
    SCOPED_TRACE(testing::Message() << "k = " << k << " of " << n);
    const Selection expected = plain_top_k(values, k);
    EXPECT_EQ(cuda_top_k<std::int32_t>(values, k, scratch), expected);
    if (k % 2 == 1) {
      EXPECT_EQ(cuda_top_k<std::int64_t>(values, k, scratch), expected);
    }
  }
}

class CudaTopK : public InEveryOrder {
 protected:
  DeviceMemory scratch_;  // NOLINT(cppcoreguidelines-non-private-member-variables-in-classes)
};
INSTANTIATE_TEST_SUITE_P(Orders, CudaTopK, every_order(), order_name);

TEST_P(CudaTopK, SelectsAsAStableSortDoes) {
  for (const std::size_t n : {0, 1, 7, 8, 33, 1023, 1024, 1025, 3001}) {
    expect_top_k(numbers(n), scratch_);
    expect_top_k(numbers(n, false), scratch_);
  }
}

TEST_P(CudaTopK, TakesTiesFromTheFront) {
  std::vector<float> values(2500, 0.0F);
  expect_top_k(values, scratch_);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = i % 3 == 0 ? -1.5F : 1.5F;
  expect_top_k(values, scratch_);
  for (std::size_t i = 0; i < values.size(); i += 7) values[i] = 2.0F;  // above all ties
  expect_top_k(values, scratch_);
}

// They differ in each digit that a histogram looks at.
TEST_P(CudaTopK, TellsNeighboursApart) {
  for (const unsigned step : {0U, 9U, 18U}) {
    std::vector<float> values;
    for (std::uint32_t i = 0; i < 1200; ++i) {
      values.push_back(float_of(0x3F800000 + ((i * 7919 % 500) << step)));
    }
    expect_top_k(values, scratch_);
  }
}

TEST_P(CudaTopK, OfNoNumbersIsNothing) {
  expect_top_k(std::vector<float>(1100, std::nanf("")), scratch_);
}

TEST(CudaTopKScratch, IsMadeOnceForTheLargest) {
  DeviceMemory scratch;
  (void)cuda_top_k<std::int32_t>(numbers(3000), 30, scratch);
  const std::size_t size = scratch.size();
  EXPECT_EQ(size, sizeof(cuda::TopKState) + 4 * 3000 + 3 * (4 + sizeof(cuda::TileOffset)));
  (void)cuda_top_k<std::int32_t>(numbers(2000), 30, scratch);
  EXPECT_EQ(scratch.size(), size);
}

// Beyond 2^31 elements, without their memory.
TEST(CudaTopKOfHugeGroups, CountsItsTiles) {
  EXPECT_EQ(cuda::tiles_of(0), 0U);
  EXPECT_EQ(cuda::tiles_of((std::uint64_t{1} << 33) + 1), (std::uint64_t{1} << 23) + 1);
  // A tile's counts fit their halves.
  EXPECT_LT(cuda::kTile, cuda::kAboveOne);
  EXPECT_LT(std::uint64_t{cuda::kTilesOfThread} * 256 * cuda::kTile, std::uint64_t{1} << 32);
}

TEST_P(CudaTopK, ManyTilesAreScannedInRounds) {
  constexpr std::uint64_t kTiles = 9001;  // more than two rounds of 256 threads, 16 tiles each
  std::vector<std::uint32_t> counts(kTiles);
  for (std::uint32_t t = 0; t < kTiles; ++t) counts[t] = t * 31 % 1025 << 16 | t * 17 % 1025;
  std::vector<cuda::TileOffset> offsets(kTiles);
  launch(Kernel{"scan_tiles", &cuda::scan_tiles_kernel}, {1, 256}, nullptr, counts.data(), kTiles,
         offsets.data());
  std::uint64_t above = 0;
  std::uint64_t equal = 0;
  for (std::uint64_t t = 0; t < kTiles; ++t) {
    ASSERT_EQ(offsets[t].above, above) << t;
    ASSERT_EQ(offsets[t].equal, equal) << t;
    above += counts[t] >> 16;
    equal += counts[t] & 0xFFFF;
  }
}

TEST_P(CudaTopK, ThresholdsAreThoseOfTheSample) {
  constexpr DrawKey kKey{.seed = 4, .iteration = 1, .tensor = 0, .stream = 3};
  for (const std::vector<std::size_t>& sizes :
       {kAwkward, std::vector<std::size_t>{70000}, std::vector<std::size_t>{1, 2, 3}}) {
    const GroupLayout layout(1, sizes);
    const GroupView group = layout.view();
    const std::vector<float> values = numbers(layout.elements());
    for (const double density : {0.001, 0.05, 1.0}) {
      std::vector<float> expected;
      for (std::uint32_t t = 0; t < group.tensors; ++t) {
        const Sample sample = sample_of(count_of(group, t), density,
                                        draw_block(draw_key_of(group, kKey, t), 0).word[0]);
        std::vector<float> sampled;
        for (std::uint64_t j = 0; j < sample.count; ++j) {
          sampled.push_back(std::fabs(values[begin_of(group, t) + sample.place(j)]));
        }
        std::sort(sampled.begin(), sampled.end(), std::greater<>());
        expected.push_back(sampled[sample.selected - 1]);
      }
      std::vector<float> thresholds(group.tensors, -1.0F);
      std::vector<float> room(layout.elements());
      const float* const from = values.data();
      CudaPrimitives(nullptr, nullptr)
          .sampled_thresholds(
              group, kKey, density, [=](std::uint64_t i) { return std::fabs(from[i]); },
              thresholds.data(), room.data());
      EXPECT_EQ(thresholds, expected) << density;
    }
  }
}

__global__ void scan_kernel(const unsigned* values, unsigned* before, unsigned* all) {
  for (unsigned round = 0; round < 2; ++round) {
    const auto scanned = cuda::block_scan(values[threadIdx.x] + round);
    before[threadIdx.x] = scanned.before;
    all[threadIdx.x] = scanned.all;
  }
}

TEST_P(CudaTopK, BlocksScanWhatTheirThreadsHave) {
  for (const unsigned threads : {32U, 96U, 256U, 1024U}) {
    std::vector<unsigned> values(threads);
    for (unsigned t = 0; t < threads; ++t) values[t] = t * t % 11;
    std::vector<unsigned> before(threads);
    std::vector<unsigned> all(threads);
    launch(Kernel{"scan", &scan_kernel}, {1, threads}, nullptr, values.data(), before.data(),
           all.data());
    unsigned sum = 0;
    for (unsigned t = 0; t < threads; ++t) {
      ASSERT_EQ(before[t], sum);
      sum += values[t] + 1;
    }
    EXPECT_EQ(all, std::vector<unsigned>(threads, sum));
  }
}

}  // namespace
}  // namespace mergewise
