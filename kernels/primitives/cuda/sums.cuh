// SPDX-License-Identifier: Apache-2.0
// Sums and maxima of each tensor of a group, one read of the input. A warp takes a chunk at a time
// and adds up in the order that kernels/primitives/README.md states: no library's reduction keeps
// to it (cub::DeviceSegmentedReduce adds in an order of its own), and equal bits need it.
#pragma once

#include "kernels/primitives/cuda/elements.cuh"
#include "kernels/primitives/host_device.hpp"

#include <cstddef>
#include <cstdint>

namespace mergewise::cuda {

/// The first chunk of a tensor (or, where it is none, chunk_count), by bisection.
__device__ inline std::uint64_t first_chunk_of(const GroupView& group, std::uint32_t tensor) {
  if (tensor >= group.tensors) return group.chunk_count;
  if (group.piece != 0) return tensor * ((group.piece - 1) / kChunk + 1);
  std::uint64_t low = 0;
  std::uint64_t high = group.chunk_count;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (group.chunks[middle].tensor < tensor) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/// Sum::kCount numbers of each chunk; or, where each tensor is one chunk, `totals` at once
/// (`partials` is null).
template <typename Sum, typename Source, typename F>
__global__ void chunk_sums_kernel(GroupView group, Source source, F f,
                                  typename Sum::Number* partials, double* totals,
                                  MessageFacts* facts) {
  const unsigned lane = lane_of_warp();
  Counts counts;
  for (std::uint64_t c = grid_thread() / kWarp; c < group.chunk_count;
       c += grid_threads() / kWarp) {
    const Chunk chunk = chunk_of(group, c);
    typename Sum::Number sums[Sum::kCount] = {};
    MERGEWISE_UNROLL
    for (std::uint32_t j = lane; j < chunk.count; j += kWarp) {
      const Sum added = f(counts.clean(source(chunk.begin + j)));
      for (std::size_t s = 0; s < Sum::kCount; ++s) sums[s] += added.value[s];
    }
    for (std::size_t s = 0; s < Sum::kCount; ++s) {
      const typename Sum::Number sum = warp_sum(sums[s]);
      if (lane != 0) continue;
      if (partials != nullptr) {
        partials[Sum::kCount * c + s] = sum;
      } else {
        totals[Sum::kCount * chunk.tensor + s] = 0.0 + static_cast<double>(sum);
      }
    }
  }
  add_counts(counts, facts);
}

/// Adds chunks up, one after the other, in double: a warp for each of kCount sums of each tensor.
/// Lanes read 32 partial sums at a time, the next ones while these are added.
template <std::size_t kCount, typename Number>
__global__ void tensor_sums_kernel(GroupView group, const Number* partials, double* totals) {
  const unsigned lane = lane_of_warp();
  for (std::uint64_t t = grid_thread() / kWarp; t < kCount * std::uint64_t{group.tensors};
       t += grid_threads() / kWarp) {
    const auto tensor = static_cast<std::uint32_t>(t / kCount);
    const std::uint64_t sum = t % kCount;
    const std::uint64_t end = first_chunk_of(group, tensor + 1);
    const auto partial = [&](std::uint64_t c) {
      return c < end ? static_cast<double>(partials[kCount * c + sum]) : 0.0;
    };
    std::uint64_t first = first_chunk_of(group, tensor);
    double total = 0;
    double own = partial(first + lane);
    while (first < end) {
      const double next = partial(first + kWarp + lane);
      const auto left = static_cast<int>(end - first < kWarp ? end - first : kWarp);
      for (int j = 0; j < left; ++j) total += __shfl_sync(kFullWarp, own, j);
      own = next;
      first += kWarp;
    }
    if (lane == 0) totals[t] = total;
  }
}

/// `totals` are zeros at first. The order does not matter to a maximum.
template <typename Source>
__global__ void largest_kernel(GroupView group, Source source, const float* limits, float* totals) {
  for (std::uint64_t c = grid_thread() / kWarp; c < group.chunk_count;
       c += grid_threads() / kWarp) {
    const Chunk chunk = chunk_of(group, c);
    const float limit = limits[chunk.tensor];
    float most = 0;
    MERGEWISE_UNROLL
    for (std::uint32_t j = lane_of_warp(); j < chunk.count; j += kWarp) {
      const float x = finite_or_zero(source(chunk.begin + j));
      most = larger(most, smaller(float_of(bits_of(x) & 0x7FFFFFFFU), limit));
    }
    for (unsigned half = kWarp / 2; half > 0; half /= 2) {
      most = larger(most, __shfl_down_sync(kFullWarp, most, half));
    }
    if (lane_of_warp() == 0) raise_atomically(&totals[chunk.tensor], most);
  }
}

}  // namespace mergewise::cuda
