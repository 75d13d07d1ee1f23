// SPDX-License-Identifier: Apache-2.0
// Memory of the device that grows with what is asked of it.
#pragma once

#include "bench/core/error.hpp"
#include "kernels/cuda/runtime.cuh"

#include <cstddef>
#include <string>
#include <utility>

namespace mergewise {

/// Throws BackendError that says what failed and why.
inline void check_cuda(cudaError_t error, const std::string& what) {
  if (error == cudaSuccess) return;
  (void)cudaGetLastError();
  throw BackendError(what + " failed: " + cudaGetErrorString(error) +
                     "; check the device with nvidia-smi");
}

/// Owns bytes of the current device. Growing forgets what they held and, because it frees the old
/// ones, waits for the device: work that keeps to what it asked for before waits for nothing.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  ~DeviceMemory() { (void)cudaFree(bytes_); }
  DeviceMemory(DeviceMemory&& other) noexcept
      : bytes_(std::exchange(other.bytes_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(size_, other.size_);
    return *this;
  }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// At least so many bytes, aligned to 256. Throws BackendError if there are not.
  std::byte* at_least(std::size_t size) {
    if (size > size_) {
      check_cuda(cudaFree(std::exchange(bytes_, nullptr)), "freeing device memory");
      size_ = 0;
      check_cuda(cudaMalloc(&bytes_, size),
                 "allocating " + std::to_string(size) + " bytes of device memory");
      size_ = size;
    }
    return bytes_;
  }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  std::byte* bytes_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace mergewise
