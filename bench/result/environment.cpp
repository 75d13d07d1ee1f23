// SPDX-License-Identifier: Apache-2.0
#include "bench/result/environment.hpp"

#include "bench/core/version.hpp"
#include "bench/result/cgroup.hpp"
#include "bench/result/git_revision.hpp"
#include "bench/result/json_values.hpp"
#include "bench/result/processor.hpp"
#include "bench/result/text_file.hpp"

#include <gnu/libc-version.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

namespace mergewise {
namespace {

using nlohmann::json;

json build_json() {
  const GitRevision& git = git_revision();
  return {{"version", MERGEWISE_VERSION},
          {"git_revision", text_or_null(git.revision)},
          {"git_dirty", git.revision.empty() ? json(nullptr) : json(git.dirty)},
          {"compiler", MERGEWISE_COMPILER},
          {"build_type", MERGEWISE_BUILD_TYPE},
          {"sanitizers", text_or_null(MERGEWISE_SANITIZERS)}};
}

json host_json() {
  utsname names{};
  if (::uname(&names) != 0) return nullptr;
  return {{"name", names.nodename},
          {"system", names.sysname},
          {"kernel", names.release},
          {"machine", names.machine},
          {"libc", gnu_get_libc_version()}};
}

CgroupLimits own_limits() {
  return read_cgroup_limits(read_text("/proc/self/cgroup").value_or(""), "/sys/fs/cgroup");
}

json cgroup_json() {
  const CgroupLimits limits = own_limits();
  return {{"version", limits.version ? json(*limits.version) : json(nullptr)},
          {"processors", limits.processors ? json(*limits.processors) : json(nullptr)},
          {"memory_bytes", limits.memory_bytes ? json(*limits.memory_bytes) : json(nullptr)}};
}

json memory_json() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  const bool known = pages > 0 && page > 0;
  return {{"total_bytes", known ? json(std::int64_t{pages} * page) : json(nullptr)},
          {"page_bytes", page > 0 ? json(page) : json(nullptr)}};
}

// Variables that change what is measured. A list of what is allowed, so that no secret slips out.
bool is_setting(std::string_view name) {
  constexpr std::array<std::string_view, 6> kPrefixes{"NCCL_", "GLOO_", "CUDA_",
                                                      "OMP_",  "UCX_",  "OPENBLAS_"};
  return name == "SLURM_JOB_ID" ||
         std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

json settings_json() {
  json settings = json::object();
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t split = text.find('=');
    if (split == std::string_view::npos || !is_setting(text.substr(0, split))) continue;
    settings[std::string(text.substr(0, split))] = text.substr(split + 1);
  }
  return settings;
}

}  // namespace

int allowed_processors() {
  int allowed = static_cast<int>(affinity().size());
  if (allowed == 0) allowed = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  // Part of a processor is not one that a thread can have for itself.
  const std::optional<double> quota = own_limits().processors;
  if (quota && *quota < allowed) allowed = static_cast<int>(std::floor(*quota));
  return std::max(allowed, 1);
}

json describe_program() { return {{"mergewise", build_json()}}; }

json capture_environment() {
  return {{"mergewise", build_json()},         {"host", host_json()},
          {"processor", describe_processor()}, {"memory", memory_json()},
          {"cgroup", cgroup_json()},           {"settings", settings_json()}};
}

}  // namespace mergewise
