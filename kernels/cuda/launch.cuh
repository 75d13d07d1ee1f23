// SPDX-License-Identifier: Apache-2.0
// The one way to launch a kernel, and the shape that kernels over n elements are launched with.
#pragma once

#include "bench/core/error.hpp"
#include "kernels/cuda/runtime.cuh"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace mergewise {

/// A __global__ function and its name for messages.
template <typename... Parameters>
struct Kernel {
  const char* name;
  void (*function)(Parameters...);
};
template <typename... Parameters>
Kernel(const char*, void (*)(Parameters...)) -> Kernel<Parameters...>;

/// Blocks, threads of a block, bytes of dynamic shared memory of a block (at most 48 KiB).
struct LaunchShape {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes = 0;
};

/// For a kernel whose threads stride over n > 0 pieces of work: whole warps, no more of them than
/// there is work for, and no more blocks than fill a large device.
inline LaunchShape shape_for(std::uint64_t n) {
  constexpr std::uint64_t kThreads = 256;
  constexpr std::uint64_t kMaxBlocks = 2048;
  const std::uint64_t threads = std::min(n - 1, kThreads - 1) / kWarp * kWarp + kWarp;
  const std::uint64_t blocks = std::min((n - 1) / threads + 1, kMaxBlocks);
  return {dim3(static_cast<unsigned>(blocks)), dim3(static_cast<unsigned>(threads)), 0};
}

/// The same for one whose warps stride over n > 0 pieces of work.
inline LaunchShape shape_for_warps(std::uint64_t n) {
  return shape_for(std::min(n, std::uint64_t{1} << 32) * kWarp);
}

/// Enqueues the kernel on the stream; arguments are copied. Throws BackendError that names the
/// kernel if it cannot be launched; what fails while it runs shows at a later call, as always with
/// CUDA.
template <typename... Parameters>
void launch(const Kernel<Parameters...>& kernel, const LaunchShape& shape, cudaStream_t stream,
            std::type_identity_t<Parameters>... arguments) {
#if defined(__CUDACC__)
  kernel.function<<<shape.grid, shape.block, shape.shared_bytes, stream>>>(arguments...);
#else
  simt::launch(shape.grid, shape.block, shape.shared_bytes, stream,
               [&] { kernel.function(arguments...); });
#endif
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) {
    throw BackendError(
        std::string("kernel ") + kernel.name + " with " + std::to_string(shape.grid.x) + " x " +
        std::to_string(shape.grid.y) + " x " + std::to_string(shape.grid.z) + " blocks of " +
        std::to_string(shape.block.x) + " x " + std::to_string(shape.block.y) + " x " +
        std::to_string(shape.block.z) + " threads and " + std::to_string(shape.shared_bytes) +
        " bytes of shared memory failed: " + cudaGetErrorString(error));
  }
}

}  // namespace mergewise
