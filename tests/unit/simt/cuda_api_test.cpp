// SPDX-License-Identifier: Apache-2.0
#include "tests/simt/cuda_api.hpp"

#include "bench/core/error.hpp"
#include "kernels/cuda/launch.cuh"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <vector>

namespace mergewise {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::ThrowsMessage;

__global__ void add_kernel(int* values, int n, int amount) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) {
    values[i] += amount;
  }
}

__global__ void shared_sum_kernel(unsigned* total) {
  __shared__ unsigned sum;
  if (threadIdx.x == 0) {
    sum = 0;
  }
  __syncthreads();
  atomicAdd(&sum, threadIdx.x);
  __syncthreads();
  if (threadIdx.x == 0) {
    *total = sum;
  }
}

const Kernel kAdd{"add", &add_kernel};

TEST(CudaApi, AStreamDoesItsWorkInOrder) {
  constexpr int kCount = 100;
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  int* device = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&device, kCount * sizeof(int)), cudaSuccess);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(device) % 256, 0U);
  EXPECT_EQ(device[kCount - 1], -1);

  std::vector<int> host(kCount, 5);
  EXPECT_EQ(cudaMemsetAsync(device, 0, kCount * sizeof(int), stream), cudaSuccess);
  launch(kAdd, {2, 64}, stream, device, kCount, 3);
  launch(kAdd, {2, 64}, stream, device, kCount, 4);
  EXPECT_EQ(
      cudaMemcpyAsync(host.data(), device, kCount * sizeof(int), cudaMemcpyDeviceToHost, stream),
      cudaSuccess);
  EXPECT_EQ(cudaEventRecord(event, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(nullptr, event), cudaSuccess);
  EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
  EXPECT_THAT(host, Each(7));

  EXPECT_EQ(cudaFree(device), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST(CudaApi, AnErrorIsToldOnce) {
  EXPECT_EQ(cudaMemsetAsync(nullptr, 0, 8), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

__global__ void write_kernel(int* value) { *value = static_cast<int>(threadIdx.x) + 5; }

TEST(DeviceOnlyDeathTest, MemoryIsTheDevicesAlone) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto use = [](bool by_host) {
    const simt::DeviceOnly guard;
    int* value = nullptr;
    cudaMalloc(&value, sizeof *value);
    launch(Kernel{"write", &write_kernel}, {1, 1}, nullptr, value);
    int copy = 0;
    cudaMemcpyAsync(&copy, value, sizeof copy, cudaMemcpyDeviceToHost);
    if (by_host) *value = copy;
    cudaFree(value);
    return copy;
  };
  EXPECT_EQ(use(false), 5);
  EXPECT_DEATH(use(true), "");
}

TEST(Launch, RefusesShapesThatNoDeviceTakesAndNamesTheKernel) {
  const LaunchShape shapes[] = {
      {0, 32}, {1, 0}, {1, 1025}, {1, dim3(32, 33)}, {dim3(1, 65536), 1}, {1, 32, 49153}};
  for (const LaunchShape& shape : shapes) {
    EXPECT_THAT([&] { launch(kAdd, shape, nullptr, nullptr, 0, 0); },
                ThrowsMessage<BackendError>(
                    AllOf(HasSubstr("kernel add with"), HasSubstr("invalid configuration"))));
  }
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(Launch, OfSeveralHostThreadsRunOneAtATime) {
  constexpr std::size_t kHosts = 4;
  std::vector<unsigned> totals(kHosts);
  std::vector<std::thread> hosts;
  for (std::size_t host = 0; host < kHosts; ++host) {
    hosts.emplace_back([&totals, host] {
      for (int round = 0; round < 20; ++round) {
        launch(Kernel{"shared_sum", &shared_sum_kernel}, {2, 64}, nullptr, &totals[host]);
      }
    });
  }
  for (std::thread& host : hosts) {
    host.join();
  }
  EXPECT_THAT(totals, Each(64U * 63U / 2U));
}

}  // namespace
}  // namespace mergewise
