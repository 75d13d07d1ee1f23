// SPDX-License-Identifier: Apache-2.0
// Kernels that do the same with every element: one read and one write of what their function reads
// and writes. Threads stride over elements side by side, so that a warp's accesses lie together.
// thrust::for_each_n (par_nosync) would do for for_each_kernel; it does not for the others, which
// count, and it does not compile without nvcc and its own headers.
#pragma once

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/runtime.cuh"
#include "kernels/primitives/bytes.hpp"
#include "kernels/primitives/finite.hpp"
#include "kernels/primitives/group_layout.hpp"
#include "kernels/primitives/message_facts.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace mergewise::cuda {

/// Elements that a thread looked at and that are no finite numbers.
struct Counts {
  unsigned nans = 0;
  unsigned infinities = 0;

  __device__ void add(float x) {
    nans += is_nan(x) ? 1 : 0;
    infinities += is_infinite(x) ? 1 : 0;
  }
  /// The element, counted; 0 where it is not finite.
  __device__ float clean(float x) {
    add(x);
    return finite_or_zero(x);
  }
};

/// The sum over a warp, in lane 0. All its lanes call this.
template <typename T>
__device__ T warp_sum(T value) {
  for (unsigned half = kWarp / 2; half > 0; half /= 2) {
    value += __shfl_down_sync(kFullWarp, value, half);
  }
  return value;
}

/// All lanes of the warp call this. `facts` may be null.
__device__ inline void add_counts(const Counts& counts, MessageFacts* facts) {
  const bool any = counts.nans > 0 || counts.infinities > 0;
  if (facts == nullptr || __any_sync(kFullWarp, any ? 1 : 0) == 0) return;
  const std::uint64_t nans = warp_sum(std::uint64_t{counts.nans});
  const std::uint64_t infinities = warp_sum(std::uint64_t{counts.infinities});
  if (lane_of_warp() == 0 && nans > 0) add_atomically(&facts->nans, nans);
  if (lane_of_warp() == 0 && infinities > 0) add_atomically(&facts->infinities, infinities);
}

constexpr unsigned kEight = 8;

/// What one access of a thread moves at most.
struct alignas(16) Sixteen {
  float values[4];
};

__device__ inline bool in_sixteens(const float* values) {
  return reinterpret_cast<std::uintptr_t>(values) % sizeof(Sixteen) == 0;
}

/// Eight floats by two accesses where they lie well, so that a warp's lie together.
__device__ inline void read_eight(const float* from, float (&values)[kEight]) {
  if (in_sixteens(from)) {
    for (unsigned half = 0; half < 2; ++half) {
      const Sixteen read = aligned_load<Sixteen>(from + 4 * half);
      for (unsigned j = 0; j < 4; ++j) values[4 * half + j] = read.values[j];
    }
  } else {
    for (unsigned j = 0; j < kEight; ++j) values[j] = from[j];
  }
}

/// The first `count` of them.
__device__ inline void write_eight(float* to, const float (&values)[kEight], unsigned count) {
  if (count == kEight && in_sixteens(to)) {
    for (unsigned half = 0; half < 2; ++half) {
      Sixteen written;
      for (unsigned j = 0; j < 4; ++j) written.values[j] = values[4 * half + j];
      aligned_store(to + 4 * half, written);
    }
  } else {
    for (unsigned j = 0; j < kEight; ++j) {
      if (j < count) to[j] = values[j];
    }
  }
}

template <typename F>
__global__ void for_each_kernel(std::uint64_t count, F f) {
  for (std::uint64_t i = grid_thread(); i < count; i += grid_threads()) f(i);
}

/// Reads nothing where nothing was counted.
template <typename F>
__global__ void for_each_if_kernel(const MessageFacts* facts, std::uint64_t count, F f) {
  if (facts->nans > 0 || facts->infinities > 0) {
    for (std::uint64_t i = grid_thread(); i < count; i += grid_threads()) f(i);
  }
}

template <typename Source, typename F>
__global__ void for_each_counted_kernel(std::uint64_t count, Source source, F f,
                                        MessageFacts* facts) {
  Counts counts;
  for (std::uint64_t i = grid_thread(); i < count; i += grid_threads()) {
    f(i, counts.clean(source(i)));
  }
  add_counts(counts, facts);
}

/// A block takes a chunk at a time, so that its threads know the tensor without looking for it.
template <typename F>
__global__ void for_each_element_kernel(GroupView group, F f) {
  for (std::uint64_t c = blockIdx.x; c < group.chunk_count; c += gridDim.x) {
    const Chunk chunk = chunk_of(group, c);
    for (std::uint32_t j = threadIdx.x; j < chunk.count; j += blockDim.x) {
      f(chunk.begin + j, chunk.tensor);
    }
  }
}

template <typename Format, typename Source>
__global__ void to_halves_kernel(std::uint64_t count, Source source, float ranks,
                                 std::uint16_t* halves, float* memory, MessageFacts* facts) {
  Counts counts;
  for (std::uint64_t i = grid_thread(); i < count; i += grid_threads()) {
    const float x = source(i);
    counts.add(x);
    const std::uint16_t half = Format::from_bits(bits_of(x / ranks));
    halves[i] = half;
    if (memory != nullptr) {
      memory[i] = finite_or_zero(x - ranks * float_of(Format::to_bits(half)));
    }
  }
  add_counts(counts, facts);
}

template <typename Format>
__global__ void from_halves_kernel(std::uint64_t count, const std::uint16_t* halves,
                                   float* values) {
  for (std::uint64_t i = grid_thread(); i < count; i += grid_threads()) {
    values[i] = float_of(Format::to_bits(halves[i]));
  }
}

}  // namespace mergewise::cuda
