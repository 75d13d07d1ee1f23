// SPDX-License-Identifier: Apache-2.0
// The machine's processors and what this process may use of them.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace mergewise {

/// Processors of this process's affinity mask, ascending; empty when the kernel does not say.
[[nodiscard]] std::vector<int> affinity();
/// "0-3,8".
[[nodiscard]] std::string processor_list(const std::vector<int>& processors);

/// {model, packages, cores, threads, numa_nodes, affinity, allowed, governor, max_frequency_hz,
/// power_limit_w}; null where unknown.
[[nodiscard]] nlohmann::json describe_processor();

}  // namespace mergewise
