// SPDX-License-Identifier: Apache-2.0
// The instruction sets that the host's hot loops are compiled for, and the one that this machine
// gets. README.md in this folder shows how a primitive uses them.
#pragma once

#include <span>

namespace mergewise {

/// From the least to the most: kAvx2 has FMA and F16C too, kAvx512 the parts F, BW, DQ and VL.
enum class Isa : int { kBaseline = 0, kAvx2 = 1, kAvx512 = 2 };

/// "baseline", "avx2", "avx512".
[[nodiscard]] const char* isa_name(Isa isa);

/// What this processor and its system can run, the least first; looked up once. Never empty. On
/// other than x86-64 there is only the baseline.
[[nodiscard]] std::span<const Isa> available_isas();

/// The last of available_isas().
[[nodiscard]] Isa best_isa();

}  // namespace mergewise
