// SPDX-License-Identifier: Apache-2.0
#include "bench/core/dtype.hpp"

namespace mergewise {

Bytes size_of(DType dtype) { return dtype == DType::kFloat32 ? 4 : 2; }

const char* name_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return "fp32";
    case DType::kBfloat16:
      return "bf16";
    case DType::kFloat16:
      return "fp16";
  }
  return "unknown";
}

}  // namespace mergewise
