// SPDX-License-Identifier: Apache-2.0
// Version 1 has a hierarchy per controller (lines "4:memory:/path"), version 2 one for all
// ("0::/path"); a system may mix them, then the controllers that have a line of their own count.
#include "bench/result/cgroup.hpp"

#include "bench/result/text_file.hpp"

#include <algorithm>
#include <functional>
#include <sstream>

namespace mergewise {
namespace {

namespace fs = std::filesystem;

// Version 1 writes "unlimited" as the largest multiple of the page size.
constexpr Bytes kUnlimited = Bytes{1} << 60;

struct Membership {
  fs::path folder;  // below the mount
  fs::path group;   // below the folder
};

// The hierarchy that has this controller; version 2 has no controller's name in its line.
std::optional<Membership> find_membership(const std::string& text, const std::string& controller) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string names = line.substr(first + 1, second - first - 1);
    const fs::path group = fs::path(line.substr(second + 1)).relative_path();
    if (controller.empty()
            ? names.empty()
            : ("," + names + ",").find("," + controller + ",") != std::string::npos) {
      return Membership{names, group};
    }
  }
  return std::nullopt;
}

// The least limit from the group's own folder up to the mount of its hierarchy. Inside a container
// the path may not exist below the mount, which then is the group itself.
std::optional<double> least_limit(
    const fs::path& hierarchy, const fs::path& group,
    const std::function<std::optional<double>(const fs::path&)>& limit_in) {
  std::optional<double> least;
  for (fs::path below = group;; below = below.parent_path()) {
    const std::optional<double> limit = limit_in(hierarchy / below);
    if (limit && (!least || *limit < *least)) least = limit;
    if (below.empty()) return least;
  }
}

std::optional<double> processors_v1(const fs::path& folder) {
  const auto quota = read_number(folder / "cpu.cfs_quota_us");
  const auto period = read_number(folder / "cpu.cfs_period_us");
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return *quota / *period;
}

std::optional<double> processors_v2(const fs::path& folder) {
  std::istringstream text(read_line(folder / "cpu.max").value_or(""));
  double quota = 0, period = 0;
  if (!(text >> quota >> period) || quota <= 0 || period <= 0) return std::nullopt;  // also "max"
  return quota / period;
}

std::optional<double> memory_in(const fs::path& file) {
  const auto limit = read_number(file);
  if (!limit || *limit >= static_cast<double>(kUnlimited)) return std::nullopt;
  return limit;
}

}  // namespace

CgroupLimits read_cgroup_limits(const std::string& membership, const fs::path& mount) {
  CgroupLimits limits;
  std::optional<double> memory;
  const auto cpu = find_membership(membership, "cpu");
  const auto unified = find_membership(membership, "");
  if (cpu) {
    limits.version = 1;
    limits.processors = least_limit(mount / cpu->folder, cpu->group, processors_v1);
  } else if (unified) {
    limits.version = 2;
    limits.processors = least_limit(mount, unified->group, processors_v2);
  }
  if (const auto own = find_membership(membership, "memory")) {
    memory = least_limit(mount / own->folder, own->group, [](const fs::path& folder) {
      return memory_in(folder / "memory.limit_in_bytes");
    });
  } else if (unified) {
    memory = least_limit(mount, unified->group,
                         [](const fs::path& folder) { return memory_in(folder / "memory.max"); });
  }
  if (memory) limits.memory_bytes = static_cast<Bytes>(*memory);
  return limits;
}

}  // namespace mergewise
