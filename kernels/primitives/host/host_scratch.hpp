// SPDX-License-Identifier: Apache-2.0
// The memory of the host's primitives.
#pragma once

#include "kernels/primitives/host/host_tools.hpp"
#include "kernels/primitives/host/team.hpp"
#include "kernels/primitives/host/top_k.hpp"

#include <cstdint>
#include <vector>

namespace mergewise {

/// Grows when a call needs more, then calls for no more of it allocate nothing: 8 bytes for each
/// sum of each chunk of the largest group, and what top_k() says. One call at a time.
struct HostScratch {
  HostRun run;
  std::vector<double> sums;
  TopKScratch<std::int32_t> narrow;
  TopKScratch<std::int64_t> wide;
};

/// For one call by this scratch; null for calls that need none.
[[nodiscard]] HostTools host_tools(HostRun run, HostScratch* scratch);

}  // namespace mergewise
