// SPDX-License-Identifier: Apache-2.0
// What lets one source be compiled for the host and for CUDA.
#pragma once

/// Before a function that both sides may call. Such functions use no library but <cstdint> and
/// <cstddef>, allocate nothing and throw nothing.
#ifdef __CUDACC__
#define MERGEWISE_HD __host__ __device__
#else
#define MERGEWISE_HD
#endif
