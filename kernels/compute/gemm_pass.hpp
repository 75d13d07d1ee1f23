// SPDX-License-Identifier: Apache-2.0
// Runs one pass of a gemm plan on the calling thread.
#pragma once

#include "kernels/compute/gemm_plan.hpp"

namespace mergewise {

/// Reads the inputs, overwrites the outputs; both as large as the plan says, no overlap. Allocates
/// nothing of ours (BLAS keeps its own work space).
void run_gemm_pass(const GemmPass& pass, const float* inputs, float* outputs);

/// The row of a table with that many rows that a position looks up: pseudo-random, always the same.
[[nodiscard]] std::int64_t looked_up_row(std::int64_t position, std::int64_t rows);

}  // namespace mergewise
