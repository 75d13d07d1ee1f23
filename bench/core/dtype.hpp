// SPDX-License-Identifier: Apache-2.0
// Types of gradients' elements.
#pragma once

#include "bench/core/units.hpp"

namespace mergewise {

enum class DType { kFloat32, kBfloat16, kFloat16 };
[[nodiscard]] Bytes size_of(DType dtype);
[[nodiscard]] const char* name_of(DType dtype);  ///< "fp32", "bf16", "fp16"

}  // namespace mergewise
