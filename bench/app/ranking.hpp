// SPDX-License-Identifier: Apache-2.0
// The table people read after a run.
#pragma once

#include "bench/result/result.hpp"

#include <string>
#include <vector>

namespace mergewise {

/// One table per (workload, ranks, compressor), fastest first; cases without timing at the end with
/// their reason.
[[nodiscard]] std::string ranking(const std::vector<CaseRecord>& cases);

}  // namespace mergewise
