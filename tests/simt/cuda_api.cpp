// SPDX-License-Identifier: Apache-2.0
#include "tests/simt/cuda_api.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
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

// DeviceOnly's pages, and whether there is one.
struct DevicePages {
  bool used = false;
  std::map<void*, std::size_t> sizes;
};

DevicePages& device_pages() {
  static DevicePages pages;
  return pages;
}

// While it lives, they can be touched.
struct DeviceAccess {
  DeviceAccess() { protect(PROT_READ | PROT_WRITE); }
  ~DeviceAccess() { protect(PROT_NONE); }
  DeviceAccess(const DeviceAccess&) = delete;
  DeviceAccess& operator=(const DeviceAccess&) = delete;
  static void protect(int access) {
    for (const auto& [page, size] : device_pages().sizes) mprotect(page, size, access);
  }
};

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
  if (device_pages().used) {
    void* const pages =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return result(cudaErrorMemoryAllocation);
    device_pages().sizes.emplace(pages, bytes);
    *pointer = pages;
    return cudaMemsetAsync(pages, 0xFF, bytes);
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
  if (const auto pages = device_pages().sizes.find(pointer); pages != device_pages().sizes.end()) {
    munmap(pages->first, pages->second);
    device_pages().sizes.erase(pages);
    return cudaSuccess;
  }
  std::free(pointer);
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind /*kind*/,
                            cudaStream_t /*stream*/) {
  const DeviceAccess access;
  if (bytes > 0 && to != nullptr && from != nullptr) {
    std::memmove(to, from, bytes);
  }
  return check(bytes == 0 || (to != nullptr && from != nullptr));
}

cudaError_t cudaMemsetAsync(void* pointer, int value, std::size_t bytes, cudaStream_t /*stream*/) {
  const DeviceAccess access;
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
  const DeviceAccess access;
  std::string fault = Executor::instance().run(grid, block, shared_bytes, body);
  if (!fault.empty()) {
    last_error().fault = std::move(fault);
    result(cudaErrorLaunchFailure);
  }
}

DeviceOnly::DeviceOnly() { device_pages().used = true; }
DeviceOnly::~DeviceOnly() { device_pages().used = false; }

}  // namespace mergewise::simt
