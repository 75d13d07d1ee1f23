// SPDX-License-Identifier: Apache-2.0
// What lets one source be compiled for the host and for CUDA.
#pragma once

/// MERGEWISE_HD: before a function that both sides may call. MERGEWISE_HD_LAMBDA: before the
/// parameters of such a lambda. They use of the library only what CUDA has too (<cmath>, memcpy),
/// allocate nothing and throw nothing. On the host such functions are inlined always: sources that
/// are compiled for several instruction sets call them (host/README.md); lambdas of templates need
/// not be.
#ifdef __CUDACC__
#define MERGEWISE_HD __host__ __device__
#define MERGEWISE_HD_LAMBDA __device__  // one for both would allocate memory wherever it is copied
#else
#define MERGEWISE_HD [[gnu::always_inline]]
#define MERGEWISE_HD_LAMBDA
#endif

namespace mergewise {

/// std::min and std::max, which device code lacks. The second one where either is no number.
MERGEWISE_HD constexpr float smaller(float a, float b) { return a < b ? a : b; }
MERGEWISE_HD constexpr float larger(float a, float b) { return a > b ? a : b; }

}  // namespace mergewise
