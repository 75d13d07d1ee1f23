// SPDX-License-Identifier: Apache-2.0
// Kernels with one fault each, as people make them: the executor must show every one, and must not
// hang.
#include "bench/core/error.hpp"
#include "kernels/cuda/launch.cuh"
#include "tests/unit/simt/orders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace mergewise {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

class SeededFault : public InEveryOrder {};
INSTANTIATE_TEST_SUITE_P(Orders, SeededFault, every_order(), order_name);

// All kernels here run in one block of 64 threads with as many ints of dynamic shared memory.
const LaunchShape kShape{1, 64, 64 * sizeof(int)};

template <typename... Parameters>
auto launching(void (*kernel)(Parameters...), std::type_identity_t<Parameters>... arguments) {
  return [=] { launch(Kernel{"faulty", kernel}, kShape, nullptr, arguments...); };
}

__global__ void missing_barrier_kernel(int* values) {
  int* buffer = dynamic_shared<int>();
  buffer[threadIdx.x] = static_cast<int>(threadIdx.x);
  values[threadIdx.x] = buffer[63 - threadIdx.x];  // fault: no barrier before it
}

__global__ void unsynchronised_update_kernel(int* total) {
  __shared__ int sum;
  if (threadIdx.x == 0) {
    sum = 0;
  }
  __syncthreads();
  const int before = sum;
  const unsigned voters = __ballot_sync(kFullWarp, 1);
  sum = before + (voters != 0 ? 1 : 0);  // fault: others have added since
  __syncthreads();
  if (threadIdx.x == 0) {
    *total = sum;
  }
}

__global__ void mixed_update_kernel(unsigned* counter, unsigned* other) {
  const unsigned before = *counter;
  atomicAdd(other, 1U);
  *counter = before + 1;  // fault: the wrong one is atomic
}

#ifdef __SANITIZE_THREAD__

// The sanitizer ends a process in which it has seen a race with this code.
constexpr int kRaceSeen = 66;

void expect_report(const std::function<void()>& launch_kernel) {
  const auto launch_and_exit = [&] {
    launch_kernel();
    std::exit(0);
  };
  EXPECT_EXIT(launch_and_exit(), testing::ExitedWithCode(kRaceSeen), "data race");
}

TEST_P(SeededFault, RacesAreReportedByTheThreadSanitizer) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // the sanitizer has a thread of its own
  std::vector<int> values(64);
  expect_report(launching(&missing_barrier_kernel, values.data()));
  int total = 0;
  expect_report(launching(&unsynchronised_update_kernel, &total));
  unsigned counter = 0;
  unsigned other = 0;
  expect_report(launching(&mixed_update_kernel, &counter, &other));
}

#else

std::vector<int> without_barrier(simt::ThreadOrder order) {
  const simt::OrderGuard guard(order);
  std::vector<int> values(64);
  launching(&missing_barrier_kernel, values.data())();
  return values;
}

TEST(SeededFaults, AMissingBarrierGivesAnotherResultInEachOrder) {
  std::vector<int> expected(64);
  for (int i = 0; i < 64; ++i) {
    expected[static_cast<std::size_t>(i)] = 63 - i;
  }
  const std::vector<int> forward = without_barrier(simt::ThreadOrder::kForward);
  const std::vector<int> reverse = without_barrier(simt::ThreadOrder::kReverse);
  const std::vector<int> random = without_barrier(simt::ThreadOrder::kRandom);
  EXPECT_NE(forward, expected);
  EXPECT_NE(reverse, expected);
  EXPECT_NE(random, expected);
  EXPECT_NE(forward, reverse);
  EXPECT_NE(forward, random);
}

TEST_P(SeededFault, ANonAtomicUpdateLosesWhatOthersAdded) {
  int total = 0;
  launching(&unsynchronised_update_kernel, &total)();
  EXPECT_LT(total, 64);
}

TEST(SeededFaults, ANonAtomicUpdateAroundAnAtomicOneShowsInRandomOrder) {
  const simt::OrderGuard guard(simt::ThreadOrder::kRandom);
  unsigned counter = 0;
  unsigned other = 0;
  launching(&mixed_update_kernel, &counter, &other)();
  EXPECT_EQ(other, 64U);
  EXPECT_LT(counter, 64U);
}

#endif

__global__ void beyond_kernel(int offset) {
  int* buffer = dynamic_shared<int>();
  buffer[static_cast<int>(threadIdx.x) + (threadIdx.x == 63 ? offset : 0)] = 1;
}

TEST_P(SeededFault, AWriteOutsideDynamicSharedMemoryNamesTheThread) {
  EXPECT_NO_THROW(launching(&beyond_kernel, 0)());
  EXPECT_THAT(launching(&beyond_kernel, 1),
              ThrowsMessage<BackendError>(
                  AllOf(HasSubstr("kernel faulty"), HasSubstr("thread (63, 0, 0) wrote"),
                        HasSubstr("beyond its 256 bytes of dynamic shared memory"))));
  EXPECT_THAT(launching(&beyond_kernel, -64),
              ThrowsMessage<BackendError>(
                  AllOf(HasSubstr("thread (63, 0, 0) wrote"), HasSubstr("before its 256"))));
}

__global__ void early_return_kernel() {
  if (threadIdx.x >= 60) {
    return;  // fault: before a barrier
  }
  __syncthreads();
}

TEST_P(SeededFault, ABarrierThatSomeThreadsNeverReachNamesAThreadAndTheBarrier) {
  EXPECT_THAT(
      launching(&early_return_kernel),
      ThrowsMessage<BackendError>(AllOf(
          HasSubstr("block (0, 0, 0) thread (0, 0, 0) waits at the barrier of"),
          HasSubstr("seeded_faults_test.cpp:"), HasSubstr("with 60 of 64 threads; 4 have ended"))));
}

__global__ void divergent_barrier_kernel() {
  if (threadIdx.x % 2 == 0) {  // NOLINT(bugprone-branch-clone)
    __syncthreads();
  } else {
    __syncthreads();  // fault: another barrier
  }
}

TEST_P(SeededFault, TwoBarriersInTwoBranchesAreNotOne) {
  EXPECT_THAT(launching(&divergent_barrier_kernel),
              ThrowsMessage<BackendError>(HasSubstr("must reach the same one")));
}

__global__ void absent_lane_kernel() {
  if (threadIdx.x != 37) {
    __ballot_sync(kFullWarp, 1);  // fault: names lane 5 of the second warp
  }
}

TEST_P(SeededFault, AWarpOperationNamesTheLaneThatNeverArrives) {
  EXPECT_THAT(launching(&absent_lane_kernel),
              ThrowsMessage<BackendError>(
                  AllOf(HasSubstr("thread (32, 0, 0) waits in __ballot_sync of"),
                        HasSubstr("with mask 0xffffffff for lane 5, which has ended"))));
}

__global__ void waiting_lane_kernel() {
  if (threadIdx.x == 3) {
    __syncthreads();
  }
  __syncwarp(kFullWarp);
  __syncthreads();
}

TEST_P(SeededFault, AWarpOperationSaysWhereTheMissingLaneIs) {
  EXPECT_THAT(launching(&waiting_lane_kernel),
              ThrowsMessage<BackendError>(HasSubstr("for lane 3, which waits at a barrier")));
}

__global__ void unlike_masks_kernel() {
  __shfl_sync(threadIdx.x % 32 < 16 ? kFullWarp : 0xFFFF0000U, 1,
              0);  // fault: one half asks for the other
}

TEST_P(SeededFault, LanesMustAgreeOnTheMask) {
  EXPECT_THAT(launching(&unlike_masks_kernel),
              ThrowsMessage<BackendError>(HasSubstr("waits in __shfl_sync of")));
}

__global__ void foreign_mask_kernel() { __any_sync(0x0000FFFFU, 1); }

TEST_P(SeededFault, ALaneMustBeInItsOwnMask) {
  EXPECT_THAT(
      launching(&foreign_mask_kernel),
      ThrowsMessage<BackendError>(HasSubstr("with mask 0x0000ffff, which does not name it")));
}

TEST_P(SeededFault, AMaskMayNotNameLanesThatTheBlockDoesNotHave) {
  const auto short_block = [] { launch(Kernel{"faulty", &absent_lane_kernel}, {1, 20}, nullptr); };
  EXPECT_THAT(short_block,
              ThrowsMessage<BackendError>(HasSubstr("for lane 20, which the block does not have")));
}

__global__ void throwing_kernel(std::vector<std::string>* log) {
  const std::string held =
      "freed although the others never get on, and too long for a small string";
  if (threadIdx.x == 9) {
    throw std::runtime_error("no such thing in CUDA");
  }
  __syncthreads();
  log->push_back(held);
}

TEST_P(SeededFault, WhatAThreadThrowsEndsTheLaunchAndFreesTheOthers) {
  std::vector<std::string> log;
  EXPECT_THAT(
      launching(&throwing_kernel, &log),
      ThrowsMessage<BackendError>(HasSubstr("thread (9, 0, 0) threw: no such thing in CUDA")));
  EXPECT_TRUE(log.empty());
}

__global__ void sound_kernel(int* values) {
  __syncthreads();
  values[threadIdx.x] = __all_sync(kFullWarp, 1);
}

TEST_P(SeededFault, LeavesTheExecutorUsable) {
  EXPECT_THROW(launching(&early_return_kernel)(), BackendError);
  EXPECT_THROW(launching(&absent_lane_kernel)(), BackendError);
  std::vector<int> values(64);
  launching(&sound_kernel, values.data())();
  EXPECT_THAT(values, Each(1));
}

}  // namespace
}  // namespace mergewise
