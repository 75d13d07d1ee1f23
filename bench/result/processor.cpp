// SPDX-License-Identifier: Apache-2.0
// The only place that uses hwloc.
#include "bench/result/processor.hpp"

#include "bench/result/environment.hpp"
#include "bench/result/json_values.hpp"
#include "bench/result/text_file.hpp"

#include <fmt/format.h>
#include <hwloc.h>
#include <sched.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <sstream>

namespace mergewise {
namespace {

using nlohmann::json;

struct DestroyTopology {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, DestroyTopology>;

Topology load_topology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return nullptr;
  Topology topology(raw);
  return hwloc_topology_load(raw) == 0 ? std::move(topology) : nullptr;
}

json count_of(const Topology& topology, hwloc_obj_type_t type) {
  if (topology == nullptr) return nullptr;
  const int count = hwloc_get_nbobjs_by_type(topology.get(), type);
  return count > 0 ? json(count) : json(nullptr);
}

std::optional<std::string> model_from_cpuinfo() {
  std::istringstream lines(read_text("/proc/cpuinfo").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t value = line.find(": ");
    if (line.starts_with("model name") && value != std::string::npos) return line.substr(value + 2);
  }
  return std::nullopt;
}

std::optional<std::string> model_name(const Topology& topology) {
  if (topology != nullptr) {
    hwloc_obj* const package = hwloc_get_obj_by_type(topology.get(), HWLOC_OBJ_PACKAGE, 0);
    const char* name =
        package == nullptr ? nullptr : hwloc_obj_get_info_by_name(package, "CPUModel");
    if (name != nullptr) return name;
  }
  return model_from_cpuinfo();
}

std::optional<double> scaled(std::optional<double> value, double factor) {
  if (value) *value *= factor;
  return value;
}

}  // namespace

std::vector<int> affinity() {
  std::vector<int> processors;
  // The kernel refuses masks smaller than its own, so the mask grows until it fits.
  for (int capacity = 1024; capacity <= (1 << 20); capacity *= 2) {
    cpu_set_t* mask = CPU_ALLOC(static_cast<std::size_t>(capacity));
    if (mask == nullptr) return {};
    const std::size_t size = CPU_ALLOC_SIZE(static_cast<std::size_t>(capacity));
    const bool fits = sched_getaffinity(0, size, mask) == 0;
    for (int cpu = 0; fits && cpu < capacity; ++cpu) {
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), size, mask)) processors.push_back(cpu);
    }
    CPU_FREE(mask);
    if (fits) break;
  }
  return processors;
}

std::string processor_list(const std::vector<int>& processors) {
  std::string text;
  for (std::size_t first = 0, last = 0; first < processors.size(); first = last + 1) {
    last = first;
    while (last + 1 < processors.size() && processors[last + 1] == processors[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += first == last ? fmt::format("{}", processors[first])
                          : fmt::format("{}-{}", processors[first], processors[last]);
  }
  return text;
}

json describe_processor() {
  const Topology topology = load_topology();
  const std::vector<int> mine = affinity();
  const std::string frequency =
      fmt::format("/sys/devices/system/cpu/cpu{}/cpufreq/", mine.empty() ? 0 : mine.front());
  const long threads = ::sysconf(_SC_NPROCESSORS_ONLN);
  return {
      {"model", or_null(model_name(topology))},
      {"packages", count_of(topology, HWLOC_OBJ_PACKAGE)},
      {"cores", count_of(topology, HWLOC_OBJ_CORE)},
      {"threads", threads > 0 ? json(threads) : json(nullptr)},
      {"numa_nodes", count_of(topology, HWLOC_OBJ_NUMANODE)},
      {"affinity", mine.empty() ? json(nullptr) : json(processor_list(mine))},
      {"allowed", allowed_processors()},
      {"governor", or_null(read_line(frequency + "scaling_governor"))},
      {"max_frequency_hz", or_null(scaled(read_number(frequency + "scaling_max_freq"), 1e3))},
      {"power_limit_w",
       or_null(scaled(read_number("/sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw"),
                      1e-6))}};
}

}  // namespace mergewise
