// SPDX-License-Identifier: Apache-2.0
// Prefix sums over a block's threads, and the search for the k-th largest in a histogram. What
// cub::BlockScan does: that does not compile without nvcc.
#pragma once

#include "kernels/cuda/runtime.cuh"

#include <cstdint>

namespace mergewise::cuda {

/// What the lanes before this one have, and it itself. All lanes of the warp call this.
template <typename T>
__device__ T warp_scan(T value) {
  for (unsigned distance = 1; distance < kWarp; distance *= 2) {
    const T before = __shfl_up_sync(kFullWarp, value, distance);
    if (lane_of_warp() >= distance) value += before;
  }
  return value;
}

template <typename T>
struct Scanned {
  T before;  ///< what the threads before this one have
  T all;     ///< what all of the block have
};

/// All threads of the block call this; it is a row of whole warps. T is a sum of integers.
template <typename T>
__device__ Scanned<T> block_scan(T value) {
  __shared__ T of_warps[kWarp];
  const unsigned warp = threadIdx.x / kWarp;
  const unsigned warps = blockDim.x / kWarp;
  const T inclusive = warp_scan(value);
  if (lane_of_warp() == kWarp - 1) of_warps[warp] = inclusive;
  __syncthreads();
  T before = inclusive - value;
  T all = 0;
  for (unsigned w = 0; w < warps; ++w) {
    if (w < warp) before += of_warps[w];
    all += of_warps[w];
  }
  __syncthreads();  // before the next call writes them
  return {before, all};
}

/// Where the `wanted`-th largest element of a histogram is.
struct Found {
  std::uint32_t bin;
  std::uint64_t wanted;  ///< of that bin's elements: wanted less those of larger bins
};

/// Gives `found(Found)` to one thread of the block, for the last element if there are fewer; to
/// none if there is none. Returns how many there are. All threads of the block call this; `bins` is
/// a multiple of their number, `histogram` visible to all.
template <typename Count, typename F>
__device__ std::uint64_t find_bin(const Count* histogram, std::uint32_t bins, std::uint64_t wanted,
                                  const F& found) {
  // Thread 0 has the largest bins.
  const std::uint32_t each = bins / blockDim.x;
  const std::uint32_t end = bins - threadIdx.x * each;
  std::uint64_t own = 0;
  for (std::uint32_t b = end - each; b < end; ++b) own += histogram[b];
  const Scanned<std::uint64_t> scanned = block_scan(own);
  if (wanted > scanned.all) wanted = scanned.all;
  std::uint64_t above = scanned.before;
  if (above < wanted && wanted <= above + own) {
    std::uint32_t bin = end - 1;
    while (above + histogram[bin] < wanted) above += histogram[bin--];
    found(Found{bin, wanted - above});
  }
  return scanned.all;
}

}  // namespace mergewise::cuda
