// SPDX-License-Identifier: Apache-2.0
// The processor and memory limits of the control group this process is in (versions 1 and 2).
#pragma once

#include "bench/core/units.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace mergewise {

/// What a control group allows; empty where there is no limit or none is known.
struct CgroupLimits {
  std::optional<int> version;
  std::optional<double> processors;  ///< quota / period
  std::optional<Bytes> memory_bytes;
};

/// Reads the limits. `membership` is the text of /proc/self/cgroup, `mount` usually /sys/fs/cgroup.
/// Limits of the enclosing groups hold too: the least one counts. Never throws for what is missing.
[[nodiscard]] CgroupLimits read_cgroup_limits(const std::string& membership,
                                              const std::filesystem::path& mount);

}  // namespace mergewise
