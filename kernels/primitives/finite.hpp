// SPDX-License-Identifier: Apache-2.0
// Infinities and what is no number, told by their bits: no compiler's liberties with floats matter.
#pragma once

#include "kernels/primitives/bytes.hpp"
#include "kernels/primitives/host_device.hpp"

namespace mergewise {

MERGEWISE_HD inline bool is_nan(float value) { return (bits_of(value) & 0x7FFFFFFF) > 0x7F800000; }
MERGEWISE_HD inline bool is_infinite(float value) {
  return (bits_of(value) & 0x7FFFFFFF) == 0x7F800000;
}

/// They would spoil every scale and stay in the residual for ever.
MERGEWISE_HD inline float finite_or_zero(float value) {
  return (bits_of(value) & 0x7F800000) == 0x7F800000 ? 0.0F : value;
}

}  // namespace mergewise
