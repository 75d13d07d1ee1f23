// SPDX-License-Identifier: Apache-2.0
// Counts what the whole test program allocates with operator new, on all threads: link
// allocation_counter.cpp into the program.
#pragma once

#include <cstdint>

namespace mergewise {

[[nodiscard]] std::int64_t allocation_count();

}  // namespace mergewise
