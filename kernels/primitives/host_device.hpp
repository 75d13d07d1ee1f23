// SPDX-License-Identifier: Apache-2.0
// What lets one source be compiled for the host and for CUDA.
#pragma once

/// Before a function that both sides may call, and before the parameters of such a lambda. They
/// use of the library only what CUDA has too (<cmath>, memcpy), allocate nothing and throw nothing.
#ifdef __CUDACC__
#define MERGEWISE_HD __host__ __device__
#else
#define MERGEWISE_HD
#endif

namespace mergewise {

/// std::min and std::max, which device code lacks. The second one where either is no number.
MERGEWISE_HD constexpr float smaller(float a, float b) { return a < b ? a : b; }
MERGEWISE_HD constexpr float larger(float a, float b) { return a > b ? a : b; }

}  // namespace mergewise
