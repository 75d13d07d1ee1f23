// SPDX-License-Identifier: Apache-2.0
// What a kernel finds when g++ or clang compiles it: CUDA's language and runtime on the executor.
// Product code gets it from kernels/cuda/runtime.cuh.
#pragma once

#include "tests/simt/cuda_api.hpp"
#include "tests/simt/executor.hpp"

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

// CUDA's names are not ours.
// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier)

#define __host__
#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static  // launches run one at a time, and blocks one after the other

inline const dim3& threadIdx = mergewise::simt::position.thread;
inline const dim3& blockIdx = mergewise::simt::position.block;
inline const dim3& blockDim = mergewise::simt::position.block_dim;
inline const dim3& gridDim = mergewise::simt::position.grid_dim;

namespace mergewise::simt {

/// One shuffle: the value of the source lane, which is a lane of the warp or, outside the segment,
/// the caller's own.
template <typename T>
T shuffle(const char* name, Where where, unsigned mask, const T& value, unsigned source) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(std::uint64_t));
  WarpCall call{name, where, mask, source, 0, false};
  std::memcpy(&call.value, &value, sizeof(T));
  const std::uint64_t bits = Executor::instance().warp(call).value;
  T result;
  std::memcpy(&result, &bits, sizeof(T));
  return result;
}

inline unsigned vote(const char* name, Where where, unsigned mask, bool predicate) {
  return Executor::instance().warp({name, where, mask, 0, 0, predicate}).ballot;
}

/// The caller's place in its segment of `width` lanes (a power of two), and the segment's first
/// lane.
struct Segment {
  unsigned lane = Executor::instance().lane();
  unsigned width;
  explicit Segment(int lanes) : width(static_cast<unsigned>(lanes)) {}
  [[nodiscard]] unsigned first() const { return lane / width * width; }
  [[nodiscard]] unsigned within() const { return lane % width; }
};

/// A compare-and-swap loop's worth of atomicity in one call; returns the old value.
template <typename T, typename Update>
T atomic_update(T* address, Update update) {
  Executor::instance().interrupt();
  const std::atomic_ref<T> target(*address);
  T old = target.load(std::memory_order_relaxed);
  while (!target.compare_exchange_weak(old, update(old), std::memory_order_relaxed)) {
  }
  return old;
}

}  // namespace mergewise::simt

// The place of a call, for messages: default arguments are evaluated where the call is.
#define MERGEWISE_SIMT_WHERE const char *file = __builtin_FILE(), int line = __builtin_LINE()

inline void __syncthreads(MERGEWISE_SIMT_WHERE) {
  mergewise::simt::Executor::instance().barrier({file, line});
}

inline void __syncwarp(unsigned mask, MERGEWISE_SIMT_WHERE) {
  mergewise::simt::vote("__syncwarp", {file, line}, mask, false);
}

inline unsigned __ballot_sync(unsigned mask, int predicate, MERGEWISE_SIMT_WHERE) {
  return mergewise::simt::vote("__ballot_sync", {file, line}, mask, predicate != 0);
}

inline int __any_sync(unsigned mask, int predicate, MERGEWISE_SIMT_WHERE) {
  return mergewise::simt::vote("__any_sync", {file, line}, mask, predicate != 0) != 0 ? 1 : 0;
}

inline int __all_sync(unsigned mask, int predicate, MERGEWISE_SIMT_WHERE) {
  return mergewise::simt::vote("__all_sync", {file, line}, mask, predicate != 0) == mask ? 1 : 0;
}

template <typename T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32, MERGEWISE_SIMT_WHERE) {
  const mergewise::simt::Segment segment(width);
  return mergewise::simt::shuffle("__shfl_sync", {file, line}, mask, value,
                                  segment.first() + static_cast<unsigned>(source) % segment.width);
}

template <typename T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, MERGEWISE_SIMT_WHERE) {
  const mergewise::simt::Segment segment(width);
  const bool inside = delta <= segment.within();
  return mergewise::simt::shuffle("__shfl_up_sync", {file, line}, mask, value,
                                  inside ? segment.lane - delta : segment.lane);
}

template <typename T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, MERGEWISE_SIMT_WHERE) {
  const mergewise::simt::Segment segment(width);
  const bool inside = delta < segment.width - segment.within();
  return mergewise::simt::shuffle("__shfl_down_sync", {file, line}, mask, value,
                                  inside ? segment.lane + delta : segment.lane);
}

template <typename T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32, MERGEWISE_SIMT_WHERE) {
  const mergewise::simt::Segment segment(width);
  const unsigned source = segment.lane ^ static_cast<unsigned>(lane_mask);
  const bool inside =
      source < segment.first() + segment.width;  // segments before this one can be read
  return mergewise::simt::shuffle("__shfl_xor_sync", {file, line}, mask, value,
                                  inside ? source : segment.lane);
}

#undef MERGEWISE_SIMT_WHERE

inline int __popc(unsigned bits) { return std::popcount(bits); }

// For the types that CUDA has them for: int, unsigned, unsigned long long; atomicAdd also for
// float.
template <typename T>
concept SimtInteger =
    std::is_same_v<T, int> || std::is_same_v<T, unsigned> || std::is_same_v<T, unsigned long long>;

template <typename T>
requires SimtInteger<T> || std::is_same_v<T, float> T atomicAdd(T* address,
                                                                std::type_identity_t<T> value) {
  return mergewise::simt::atomic_update(address,
                                        [value](T old) { return static_cast<T>(old + value); });
}

template <SimtInteger T>
T atomicMax(T* address, std::type_identity_t<T> value) {
  return mergewise::simt::atomic_update(address,
                                        [value](T old) { return old < value ? value : old; });
}

template <SimtInteger T>
T atomicMin(T* address, std::type_identity_t<T> value) {
  return mergewise::simt::atomic_update(address,
                                        [value](T old) { return value < old ? value : old; });
}

template <SimtInteger T>
T atomicOr(T* address, std::type_identity_t<T> value) {
  return mergewise::simt::atomic_update(address, [value](T old) { return old | value; });
}

template <SimtInteger T>
T atomicCAS(T* address, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
  return mergewise::simt::atomic_update(address,
                                        [=](T old) { return old == expected ? value : old; });
}

// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier)
