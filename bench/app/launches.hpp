// SPDX-License-Identifier: Apache-2.0
// The same run in several launches: what differs between them is what no number of iterations in
// one process shows (memory layout, scheduling, connections).
#pragma once

#include "bench/core/error.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace mergewise {

inline constexpr const char* kLaunchesSchema = "mergewise/launches/1";

/// Runs one launch whose results go to this folder; returns its exit code.
using Launch = std::function<ExitCode(const std::filesystem::path& folder)>;

/// Runs `launches` launches into out/launch-1, out/launch-2, ..., then writes out/launches.json and
/// prints the spread of each case between them. Stops at the first launch that does not end with 0
/// and returns its code.
[[nodiscard]] ExitCode run_launches(int launches, const std::filesystem::path& out,
                                    const Launch& launch);

/// {schema, cases: [{workload, batch, strategy, options, compressor, ranks, medians_ns, spread}]}
/// from result documents of the same config; spread = (largest - smallest) / median of the medians,
/// null unless every launch has one.
[[nodiscard]] nlohmann::json compare_launches(const std::vector<nlohmann::json>& results);

}  // namespace mergewise
