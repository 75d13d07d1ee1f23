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

namespace mergewise {

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

}  // namespace mergewise
