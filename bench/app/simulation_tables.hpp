// SPDX-License-Identifier: Apache-2.0
// What people read after a simulation; every text says that nothing was run.
#pragma once

#include "bench/result/result.hpp"

#include <string>
#include <vector>

namespace mergewise {

/// One table for each workload, network, number of ranks and compressor, fastest first; skipped
/// cases at the end with their reason.
[[nodiscard]] std::string simulated_ranking(const std::vector<CaseRecord>& cases);

/// For many cases: which strategy is fastest how often, how far each is from the fastest, where
/// merging loses to not merging, and what was skipped.
[[nodiscard]] std::string simulated_summary(const std::vector<CaseRecord>& cases);

}  // namespace mergewise
