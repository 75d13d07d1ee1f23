// SPDX-License-Identifier: Apache-2.0
#include "tests/simt/cuda_api.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

struct MergewiseSimtStream {};
struct MergewiseSimtEvent {};

namespace {

constexpr std::size_t kAlignment = 256;
constexpr unsigned kMaxGridYz = 65535;
constexpr unsigned kMaxGridX = 0x7FFFFFFF;
constexpr unsigned kMaxBlockZ = 64;

struct LastError {
  cudaError_t code = cudaSuccess;
  std::string fault;
};

LastError& last_error() {
  static thread_local LastError error;
  return error;
}

cudaError_t result(cudaError_t code) {
  if (code != cudaSuccess) {
    last_error().code = code;
  }
  return code;
}

cudaError_t check(bool valid) { return result(valid ? cudaSuccess : cudaErrorInvalidValue); }

}  // namespace

// NOLINTBEGIN(readability-identifier-naming)
cudaError_t cudaGetLastError() { return std::exchange(last_error().code, cudaSuccess); }

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorInvalidValue:
      return "invalid argument";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorInvalidConfiguration:
      return "invalid configuration argument";
    case cudaErrorLaunchFailure:
      return last_error().fault.c_str();
  }
  return "unrecognized error code";
}

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  *pointer = nullptr;
  if (bytes == 0) {
    return cudaSuccess;
  }
  // The very size is asked for, not the rounded one, so that the address sanitizer sees the end.
  void* memory = nullptr;
  if (posix_memalign(&memory, kAlignment, bytes) != 0) {
    return result(cudaErrorMemoryAllocation);
  }
  std::memset(memory, 0xFF, bytes);
  *pointer = memory;
  return cudaSuccess;
}

cudaError_t cudaFree(void* pointer) {
  std::free(pointer);
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind /*kind*/,
                            cudaStream_t /*stream*/) {
  if (bytes > 0 && to != nullptr && from != nullptr) {
    std::memmove(to, from, bytes);
  }
  return check(bytes == 0 || (to != nullptr && from != nullptr));
}

cudaError_t cudaMemsetAsync(void* pointer, int value, std::size_t bytes, cudaStream_t /*stream*/) {
  if (bytes > 0 && pointer != nullptr) {
    std::memset(pointer, value, bytes);
  }
  return check(bytes == 0 || pointer != nullptr);
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  *stream = new MergewiseSimtStream;
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const bool valid = stream != nullptr;
  delete stream;
  return check(valid);
}

cudaError_t cudaStreamSynchronize(cudaStream_t /*stream*/) { return cudaSuccess; }

cudaError_t cudaStreamWaitEvent(cudaStream_t /*stream*/, cudaEvent_t event, unsigned /*flags*/) {
  return check(event != nullptr);
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = new MergewiseSimtEvent;
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const bool valid = event != nullptr;
  delete event;
  return check(valid);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t /*stream*/) {
  return check(event != nullptr);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) { return check(event != nullptr); }

cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
// NOLINTEND(readability-identifier-naming)

namespace mergewise::simt {

void launch(const Dim3& grid, const Dim3& block, std::size_t shared_bytes, cudaStream_t /*stream*/,
            const std::function<void()>& body) {
  const bool valid = grid.count() > 0 && grid.x <= kMaxGridX &&
                     std::max(grid.y, grid.z) <= kMaxGridYz && block.count() > 0 &&
                     block.x <= kMaxThreads && block.y <= kMaxThreads && block.z <= kMaxBlockZ &&
                     block.count() <= kMaxThreads && shared_bytes <= kMaxShared;
  if (!valid) {
    result(cudaErrorInvalidConfiguration);
    return;
  }
  std::string fault = Executor::instance().run(grid, block, shared_bytes, body);
  if (!fault.empty()) {
    last_error().fault = std::move(fault);
    result(cudaErrorLaunchFailure);
  }
}

}  // namespace mergewise::simt
