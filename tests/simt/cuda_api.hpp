// SPDX-License-Identifier: Apache-2.0
// The part of CUDA's runtime that kernels' host code needs, on host memory. Everything is done, in
// order, by the time its call returns: what needs an event or a synchronisation and lacks it is not
// found here.
#pragma once

#include "tests/simt/executor.hpp"

#include <cstddef>
#include <functional>
#include <string>

// CUDA's names are not ours.
// NOLINTBEGIN(readability-identifier-naming)

using dim3 = mergewise::simt::Dim3;

enum cudaError_t : int {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorLaunchFailure = 719,
};

enum cudaMemcpyKind : int {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4,
};

using cudaStream_t = struct MergewiseSimtStream*;
using cudaEvent_t = struct MergewiseSimtEvent*;

/// The last error of this host thread's calls, which is then forgotten.
cudaError_t cudaGetLastError();
/// For cudaErrorLaunchFailure what the executor found in this host thread's last launch that
/// failed.
const char* cudaGetErrorString(cudaError_t error);

/// Aligned to 256 bytes; filled with ones, so that reading what was never written shows.
cudaError_t cudaMalloc(void** pointer, std::size_t bytes);
template <typename T>
cudaError_t cudaMalloc(T** pointer, std::size_t bytes) {
  void* memory = nullptr;
  const cudaError_t error = cudaMalloc(&memory, bytes);
  *pointer = static_cast<T*>(memory);
  return error;
}
cudaError_t cudaFree(void* pointer);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemsetAsync(void* pointer, int value, std::size_t bytes,
                            cudaStream_t stream = nullptr);

cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaDeviceSynchronize();
// NOLINTEND(readability-identifier-naming)

namespace mergewise::simt {

/// What <<<grid, block, shared_bytes, stream>>> does: runs the body once per thread;
/// cudaGetLastError() tells how it went.
void launch(const Dim3& grid, const Dim3& block, std::size_t shared_bytes, cudaStream_t stream,
            const std::function<void()>& body);

/// While one lives, the host may not touch what cudaMalloc() gives: only kernels and the copies and
/// fills above can, anything else ends the process, as on a GPU. One at a time; what is allocated
/// meanwhile is freed before it ends.
class DeviceOnly {
 public:
  DeviceOnly();
  ~DeviceOnly();
  DeviceOnly(const DeviceOnly&) = delete;
  DeviceOnly& operator=(const DeviceOnly&) = delete;
};

}  // namespace mergewise::simt
