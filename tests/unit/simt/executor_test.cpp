// SPDX-License-Identifier: Apache-2.0
// Kernels without faults give in every thread order what CUDA promises.
#include "tests/simt/executor.hpp"

#include "kernels/cuda/launch.cuh"
#include "tests/unit/simt/orders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace mergewise {
namespace {

using testing::Each;
using testing::ElementsAreArray;

class Executor : public InEveryOrder {};

// Shuffles within a warp, static shared memory between warps.
__global__ void block_sum_kernel(const float* values, float* sums) {
  __shared__ float warp_sums[32];
  float sum = values[blockIdx.x * blockDim.x + threadIdx.x];
  for (unsigned delta = 16; delta > 0; delta /= 2) {
    sum += __shfl_down_sync(kFullWarp, sum, delta);
  }
  if (threadIdx.x % 32 == 0) {
    warp_sums[threadIdx.x / 32] = sum;
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < blockDim.x / 32 ? warp_sums[threadIdx.x] : 0.0F;
    for (int distance = 16; distance > 0; distance /= 2) {
      sum += __shfl_xor_sync(kFullWarp, sum, distance);
    }
    if (threadIdx.x == 0) {
      sums[blockIdx.x] = sum;
    }
  }
}

TEST_P(Executor, SumsABlockByShufflesAndSharedMemory) {
  std::vector<float> values(3 * 256);
  std::iota(values.begin(), values.end(), 0.0F);
  std::vector<float> sums(3);
  launch(Kernel{"block_sum", &block_sum_kernel}, {3, 256}, nullptr, values.data(), sums.data());
  EXPECT_THAT(sums, ElementsAreArray({32640.0F, 98176.0F, 163712.0F}));
}

__global__ void reverse_kernel(int* values) {
  int* buffer = dynamic_shared<int>();
  buffer[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = buffer[blockDim.x - 1 - threadIdx.x];
}

TEST_P(Executor, ReversesThroughDynamicSharedMemory) {
  std::vector<int> values(1000);
  std::iota(values.begin(), values.end(), 0);
  const std::vector<int> expected(values.rbegin(), values.rend());
  launch(Kernel{"reverse", &reverse_kernel}, {1, 1000, 4000}, nullptr, values.data());
  EXPECT_EQ(values, expected);
}

__global__ void fresh_kernel(int* seen) {
  int* buffer = dynamic_shared<int>();
  seen[blockIdx.x] = *buffer;
  *buffer = 1;
}

TEST_P(Executor, GivesEachBlockFreshDynamicSharedMemory) {
  std::vector<int> seen(4);
  launch(Kernel{"fresh", &fresh_kernel}, {4, 1, sizeof(int)}, nullptr, seen.data());
  EXPECT_THAT(seen, Each(-1));
}

__global__ void prefix_kernel(int* sums, int width) {
  const int lane = static_cast<int>(threadIdx.x);
  int sum = 1;
  for (int delta = 1; delta < width; delta *= 2) {
    const int before = __shfl_up_sync(kFullWarp, sum, static_cast<unsigned>(delta), width);
    sum += lane % width >= delta ? before : 0;
  }
  sums[lane] = sum;
}

TEST_P(Executor, KeepsShufflesWithinTheirWidth) {
  for (const int width : {1, 8, 32}) {
    std::vector<int> sums(32);
    launch(Kernel{"prefix", &prefix_kernel}, {1, 32}, nullptr, sums.data(), width);
    for (int lane = 0; lane < 32; ++lane) {
      EXPECT_EQ(sums[static_cast<std::size_t>(lane)], lane % width + 1);
    }
  }
}

struct Shuffled {
  double index;
  int up;
  int down;
  int across;
  int of_absent;
};

__global__ void shuffle_kernel(Shuffled* results) {
  const int lane = static_cast<int>(threadIdx.x);
  Shuffled& result = results[lane];
  result.index = __shfl_sync(kFullWarp, 0.5 + lane, lane + 9, 8);
  result.up = __shfl_up_sync(kFullWarp, lane, 3, 8);
  result.down = __shfl_down_sync(kFullWarp, lane, 3, 8);
  result.across = __shfl_xor_sync(kFullWarp, lane, 8, 8);
  if (lane < 4) {
    result.of_absent = __shfl_down_sync(0xFU, lane, 2);
  }
}

TEST_P(Executor, ShufflesAsCudaDefinesThem) {
  std::vector<Shuffled> results(32);
  launch(Kernel{"shuffle", &shuffle_kernel}, {1, 32}, nullptr, results.data());
  for (int lane = 0; lane < 32; ++lane) {
    const Shuffled& result = results[static_cast<std::size_t>(lane)];
    const int first = lane / 8 * 8;
    EXPECT_EQ(result.index, first + (lane + 1) % 8 + 0.5);
    EXPECT_EQ(result.up, lane - first >= 3 ? lane - 3 : lane);
    EXPECT_EQ(result.down, lane - first < 5 ? lane + 3 : lane);
    EXPECT_EQ(result.across,
              (lane / 8) % 2 == 1 ? lane - 8 : lane);  // only segments before its own
    EXPECT_EQ(result.of_absent, lane < 2 ? lane + 2 : lane < 4 ? -1 : 0);
  }
}

struct Votes {
  unsigned ballot;
  int any;
  int all;
};

// The two halves of the warp vote apart; the upper has seven lanes that say yes, of which lane 31
// is not asked.
__global__ void vote_kernel(Votes* votes) {
  const unsigned lane = threadIdx.x;
  const unsigned mask = lane < 16 ? 0x0000FFFFU : 0x7FFF0000U;
  if (lane == 31) {
    return;
  }
  votes[lane].ballot = __ballot_sync(mask, lane >= 25);
  votes[lane].any = __any_sync(mask, lane >= 25);
  votes[lane].all = __all_sync(mask, lane < 16);
  __syncwarp(mask);
}

TEST_P(Executor, VotesAmongTheLanesOfTheMask) {
  std::vector<Votes> votes(32);
  launch(Kernel{"vote", &vote_kernel}, {1, 32}, nullptr, votes.data());
  for (std::size_t lane = 0; lane < 31; ++lane) {
    EXPECT_EQ(votes[lane].ballot, lane < 16 ? 0U : 0x7E000000U) << lane;
    EXPECT_EQ(votes[lane].any, lane < 16 ? 0 : 1) << lane;
    EXPECT_EQ(votes[lane].all, lane < 16 ? 1 : 0) << lane;
  }
}

struct Totals {
  int sum = 0;
  float float_sum = 0.0F;
  unsigned long long wide_sum = 0;
  int least = 1000;
  unsigned greatest = 0;
  unsigned bits = 0;
  unsigned swaps = 0;
};

__global__ void atomics_kernel(Totals* totals) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&totals->sum, -1);
  atomicAdd(&totals->float_sum, 0.5F);
  atomicAdd(&totals->wide_sum, 1ULL << 32U);
  atomicMin(&totals->least, static_cast<int>(i) - 7);
  atomicMax(&totals->greatest, i);
  atomicOr(&totals->bits, 1U << (i % 8));
  unsigned seen = atomicCAS(&totals->swaps, 0U, 0U);
  while (true) {
    const unsigned old = atomicCAS(&totals->swaps, seen, seen + 2);
    if (old == seen) {
      break;
    }
    seen = old;
  }
}

TEST_P(Executor, UpdatesAtomically) {
  Totals totals;
  launch(Kernel{"atomics", &atomics_kernel}, {3, 100}, nullptr, &totals);
  EXPECT_EQ(totals.sum, -300);
  EXPECT_EQ(totals.float_sum, 150.0F);
  EXPECT_EQ(totals.wide_sum, 300ULL << 32U);
  EXPECT_EQ(totals.least, -7);
  EXPECT_EQ(totals.greatest, 299U);
  EXPECT_EQ(totals.bits, 255U);
  EXPECT_EQ(totals.swaps, 600U);
}

__global__ void count_kernel(int* counts) {
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  ++counts[block * (blockDim.x * blockDim.y * blockDim.z) + thread];
}

TEST_P(Executor, RunsEveryThreadOfAThreeDimensionalShapeOnce) {
  std::vector<int> counts(std::size_t{2} * 3 * 4 * 5 * 6 * 7);
  launch(Kernel{"count", &count_kernel}, {dim3(2, 3, 4), dim3(5, 6, 7)}, nullptr, counts.data());
  EXPECT_THAT(counts, Each(1));
}

INSTANTIATE_TEST_SUITE_P(Orders, Executor, every_order(), order_name);

__global__ void trace_kernel(unsigned* next, unsigned* order) {
  order[atomicAdd(next, 1U)] = threadIdx.x;
}

std::vector<unsigned> traced(simt::ThreadOrder order, std::uint64_t seed = 1) {
  const simt::OrderGuard guard(order, seed);
  unsigned next = 0;
  std::vector<unsigned> trace(64);
  launch(Kernel{"trace", &trace_kernel}, {1, 64}, nullptr, &next, trace.data());
  return trace;
}

TEST(ThreadOrder, IsForwardReverseOrDrawnFromTheSeed) {
  std::vector<unsigned> forward(64);
  std::iota(forward.begin(), forward.end(), 0U);
  EXPECT_EQ(traced(simt::ThreadOrder::kForward), forward);
  EXPECT_EQ(traced(simt::ThreadOrder::kReverse),
            std::vector<unsigned>(forward.rbegin(), forward.rend()));
  const std::vector<unsigned> random = traced(simt::ThreadOrder::kRandom, 1);
  EXPECT_THAT(random, testing::UnorderedElementsAreArray(forward));
  EXPECT_NE(random, forward);
  EXPECT_EQ(random, traced(simt::ThreadOrder::kRandom, 1));
  EXPECT_NE(random, traced(simt::ThreadOrder::kRandom, 2));
}

}  // namespace
}  // namespace mergewise
