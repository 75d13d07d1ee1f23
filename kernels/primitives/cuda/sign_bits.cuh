// SPDX-License-Identifier: Apache-2.0
// One bit per number: its sign. Packing by warp ballots, and back to numbers.
#pragma once

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/runtime.cuh"
#include "kernels/primitives/sign_bits.hpp"

#include <cstddef>
#include <cstdint>

namespace mergewise {

/// Index: unsigned, holds n + the number of threads. Blocks of whole warps.
template <typename Index>
__global__ void pack_sign_bits_kernel(const float* values, Index n, std::uint8_t* bits) {
  const Index lane = threadIdx.x % 32;
  const Index stride = static_cast<Index>(gridDim.x) * blockDim.x;
  // All lanes of a warp see the same `first`, so all of them reach the ballot.
  for (Index first = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x - lane; first < n;
       first += stride) {
    const Index i = first + lane;
    const unsigned word = __ballot_sync(kFullWarp, i < n && values[i] < 0.0F);
    // Lane b stores byte b of the four, if one of its eight numbers exists.
    if (lane < 4 && first + 8 * lane < n) {
      bits[first / 8 + lane] = static_cast<std::uint8_t>(word >> (8 * lane));
    }
  }
}

template <typename Index>
__global__ void unpack_sign_bits_kernel(const std::uint8_t* bits, Index n, float scale,
                                        float* values) {
  const Index stride = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
    values[i] = (bits[i / 8] >> (i % 8) & 1) != 0 ? -scale : scale;
  }
}

/// The largest n that 32-bit indices serve: the last stride goes beyond n.
constexpr std::size_t kMaxNarrowIndex = std::size_t{1} << 31U;

/// Bit i % 8 of byte i / 8 is set where values[i] < 0 (not for -0.0 and NaN); the last byte's other
/// bits are 0. values: n floats, bits: sign_bytes(n) bytes, both on the device, enqueued on the
/// stream. n = 0 launches nothing.
inline void pack_sign_bits(const float* values, std::size_t n, std::uint8_t* bits,
                           cudaStream_t stream) {
  if (n == 0) {
    return;
  }
  if (n <= kMaxNarrowIndex) {
    launch(Kernel{"pack_sign_bits", &pack_sign_bits_kernel<std::uint32_t>}, shape_for(n), stream,
           values, static_cast<std::uint32_t>(n), bits);
  } else {
    launch(Kernel{"pack_sign_bits", &pack_sign_bits_kernel<std::uint64_t>}, shape_for(n), stream,
           values, std::uint64_t{n}, bits);
  }
}

/// The inverse: values[i] = -scale where bit i is set, else scale. Sizes and order as for
/// pack_sign_bits.
inline void unpack_sign_bits(const std::uint8_t* bits, std::size_t n, float scale, float* values,
                             cudaStream_t stream) {
  if (n == 0) {
    return;
  }
  if (n <= kMaxNarrowIndex) {
    launch(Kernel{"unpack_sign_bits", &unpack_sign_bits_kernel<std::uint32_t>}, shape_for(n),
           stream, bits, static_cast<std::uint32_t>(n), scale, values);
  } else {
    launch(Kernel{"unpack_sign_bits", &unpack_sign_bits_kernel<std::uint64_t>}, shape_for(n),
           stream, bits, std::uint64_t{n}, scale, values);
  }
}

}  // namespace mergewise
