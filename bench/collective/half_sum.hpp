// SPDX-License-Identifier: Apache-2.0
// Sums of halves, as collectives make them on the host.
#pragma once

#include "bench/core/dtype.hpp"

#include <cstddef>
#include <cstdint>

namespace mergewise {

/// sum[i] = a[i] + b[i] for fp16 or bf16 (not fp32): in fp32, rounded to nearest, ties to even.
/// `sum` may be `a` or `b`. On x86 by AVX2 and F16C where the processor has them; the results are
/// the same.
void add_halves(DType dtype, std::uint16_t* sum, const std::uint16_t* a, const std::uint16_t* b,
                std::size_t count);

namespace detail {
/// The same by kernels/primitives/half.hpp alone.
void add_halves_portably(DType dtype, std::uint16_t* sum, const std::uint16_t* a,
                         const std::uint16_t* b, std::size_t count);
}  // namespace detail

}  // namespace mergewise
