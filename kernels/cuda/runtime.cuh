// SPDX-License-Identifier: Apache-2.0
// The only file that includes CUDA's runtime. Where the build names a header that stands in for it,
// kernels are compiled by the host's compiler and executed there.
#pragma once

#if defined(__CUDACC__)
#include <cuda_runtime.h>
#elif defined(MERGEWISE_SIMT_HEADER)
#include MERGEWISE_SIMT_HEADER
#else
#error "a .cuh file needs nvcc, or MERGEWISE_SIMT_HEADER: link the target that defines it"
#endif

#include <cstdint>
#include <cstring>

/// Before a loop whose turns may be in flight together; unrolled by 8, or entirely if it is
/// shorter.
#if defined(__CUDACC__)
#define MERGEWISE_UNROLL _Pragma("unroll 8")
#else
#define MERGEWISE_UNROLL
#endif

namespace mergewise {

constexpr unsigned kWarp = 32;  // lanes of one
constexpr unsigned kFullWarp = 0xFFFFFFFFU;

/// The block's dynamic shared memory (LaunchShape::shared_bytes), aligned to at least 16 bytes.
template <typename T>
__device__ __forceinline__ T* dynamic_shared() {
#if defined(__CUDACC__)
  extern __shared__ __align__(16) unsigned char mergewise_dynamic_shared[];
  return reinterpret_cast<T*>(mergewise_dynamic_shared);
#else
  return reinterpret_cast<T*>(simt::Executor::instance().shared_memory());
#endif
}

/// Where a thread is among all of a launch, and how many there are: blocks are rows of threads.
__device__ __forceinline__ std::uint64_t grid_thread() {
  return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ std::uint64_t grid_threads() {
  return std::uint64_t{gridDim.x} * blockDim.x;
}
__device__ __forceinline__ unsigned lane_of_warp() { return threadIdx.x % kWarp; }

/// A T at an address that is aligned for it, whatever type the memory has, by one access.
template <typename T>
__device__ __forceinline__ T aligned_load(const void* from) {
#if defined(__CUDACC__)
  return *static_cast<const T*>(from);
#else
  T value;
  std::memcpy(&value, __builtin_assume_aligned(from, alignof(T)), sizeof value);
  return value;
#endif
}
template <typename T>
__device__ __forceinline__ void aligned_store(void* to, const T& value) {
#if defined(__CUDACC__)
  *static_cast<T*>(to) = value;
#else
  std::memcpy(__builtin_assume_aligned(to, alignof(T)), &value, sizeof value);
#endif
}

/// atomicAdd(), which CUDA has for unsigned long long only; returns what was there.
__device__ __forceinline__ std::uint64_t add_atomically(std::uint64_t* target,
                                                        std::uint64_t value) {
#if defined(__CUDACC__)
  return atomicAdd(reinterpret_cast<unsigned long long*>(target), value);
#else
  return simt::atomic_update(target, [value](std::uint64_t old) { return old + value; });
#endif
}

/// The larger of both, neither below +0 nor NaN, stays there: as integers, floats have their order.
__device__ __forceinline__ void raise_atomically(float* target, float value) {
#if defined(__CUDACC__)
  atomicMax(reinterpret_cast<int*>(target), __float_as_int(value));
#else
  simt::atomic_update(target, [value](float old) { return old < value ? value : old; });
#endif
}

}  // namespace mergewise
