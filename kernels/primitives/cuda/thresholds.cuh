// SPDX-License-Identifier: Apache-2.0
// A threshold of each tensor from a sample of it: one read of a hundredth of the input, then a
// radix search by a block for each tensor. No library selects in many ranges at once.
#pragma once

#include "kernels/primitives/cuda/scan.cuh"
#include "kernels/primitives/group_layout.hpp"
#include "kernels/primitives/sample.hpp"

#include <cstdint>

namespace mergewise::cuda {

__device__ inline Sample sample_of_tensor(const GroupView& group, const DrawKey& key,
                                          double density, std::uint32_t tensor) {
  return sample_of(count_of(group, tensor), density,
                   draw_block(draw_key_of(group, key, tensor), 0).word[0]);
}

/// Each tensor's sample, at its own elements' places in `samples`. A column of blocks for a tensor.
template <typename F>
__global__ void gather_samples_kernel(GroupView group, DrawKey key, double density, F magnitude,
                                      float* samples) {
  for (std::uint32_t tensor = blockIdx.x; tensor < group.tensors; tensor += gridDim.x) {
    const Sample sample = sample_of_tensor(group, key, density, tensor);
    const std::uint64_t begin = begin_of(group, tensor);
    const std::uint64_t stride = std::uint64_t{gridDim.y} * blockDim.x;
    for (std::uint64_t j = std::uint64_t{blockIdx.y} * blockDim.x + threadIdx.x; j < sample.count;
         j += stride) {
      samples[begin + j] = magnitude(begin + sample.place(j));
    }
  }
}

/// Four digits of 8 bits, of non-negative floats, whose bits are in their order. Blocks of at most
/// 256 threads, a power of two.
[[maybe_unused]] __global__ static void select_samples_kernel(GroupView group, DrawKey key,
                                                              double density, const float* samples,
                                                              float* thresholds) {
  constexpr std::uint32_t kBins = 256;
  __shared__ unsigned bins[kBins];
  __shared__ std::uint32_t prefix;
  __shared__ std::uint64_t wanted;
  for (std::uint32_t tensor = blockIdx.x; tensor < group.tensors; tensor += gridDim.x) {
    const Sample sample = sample_of_tensor(group, key, density, tensor);
    const float* const own = samples + begin_of(group, tensor);
    if (threadIdx.x == 0) {
      prefix = 0;
      wanted = sample.selected;
    }
    for (unsigned digit = 4; digit-- > 0;) {
      for (std::uint32_t b = threadIdx.x; b < kBins; b += blockDim.x) bins[b] = 0;
      __syncthreads();
      for (std::uint64_t j = threadIdx.x; j < sample.count; j += blockDim.x) {
        const std::uint64_t bits = bits_of(own[j]);  // of 64, so that all can be shifted out
        if (bits >> (8 * digit + 8) == prefix) {
          atomicAdd(&bins[(bits >> (8 * digit)) % kBins], 1U);
        }
      }
      __syncthreads();
      find_bin(bins, kBins, wanted, [&](const Found& found) {
        prefix = prefix * kBins + found.bin;
        wanted = found.wanted;
      });
      __syncthreads();
    }
    if (threadIdx.x == 0) thresholds[tensor] = float_of(prefix);
  }
}

}  // namespace mergewise::cuda
