// SPDX-License-Identifier: Apache-2.0
#include "bench/config/simulate_config.hpp"

#include "bench/config/choices.hpp"
#include "bench/config/config_readers.hpp"

#include <nlohmann/json.hpp>

namespace mergewise {
namespace {

constexpr double kMaxCases = 200'000;
// As in a cluster's description.
constexpr double kMinGbps = 1e-6;
constexpr double kMaxGbps = 1e9;
constexpr int kMaxAccumulation = 1'000'000;

std::size_t count_models(const SimulateConfig& config) {
  return static_cast<std::size_t>(
      std::count_if(config.workloads.begin(), config.workloads.end(),
                    [](const WorkloadConfig& workload) { return !workload.model.empty(); }));
}

void read_accelerators(const Node& root, const std::filesystem::path& folder,
                       const ConfigVocabulary& vocabulary, SimulateConfig& config) {
  const auto node = root.find("accelerators");
  if (!node) return;
  config.accelerators = detail::read_distinct(*node, "accelerator", [&](const Node& entry) {
    return detail::id_or_file(entry, "accelerator", vocabulary.accelerators, folder);
  });
  if (count_models(config) == 0) {
    node->fail("no workload here is a model: files and profiles bring their own layer times");
  }
}

void read_networks(const Node& root, const std::filesystem::path& folder,
                   const ConfigVocabulary& vocabulary, SimulateConfig& config) {
  if (const auto node = root.find("clusters")) {
    config.clusters = detail::read_distinct(*node, "cluster", [&](const Node& entry) {
      return detail::id_or_file(entry, "cluster", vocabulary.clusters, folder);
    });
    config.ranks = detail::read_ranks(root.at("ranks"));
    if (const auto bandwidths = root.find("bandwidths_gbps")) {
      config.bandwidths_gbps = detail::read_distinct(
          *bandwidths, "bandwidth",
          [](const Node& entry) { return entry.as_number(kMinGbps, kMaxGbps); });
    }
    return;
  }
  for (const char* key : {"ranks", "bandwidths_gbps"}) {
    if (const auto node = root.find(key)) {
      node->fail(fmt::format("`{}` goes with `clusters`, which is missing here", key));
    }
  }
  const Node workloads = root.at("workloads");
  for (std::size_t i = 0; i < config.workloads.size(); ++i) {
    if (!config.workloads[i].profile.empty()) continue;
    workloads.as_list()[i].fail(
        "without `clusters` only a profile has costs of collectives: expected `clusters`, for "
        "example [ethernet_10g]");
  }
}

void read_costs(const Node& root, const ConfigVocabulary& vocabulary, SimulateConfig& config) {
  config.compressor_costs = root.find("compressor_costs");
  if (config.compressor_costs) {
    std::vector<std::string> ids;
    for (const auto& [id, options] : vocabulary.compressors) {
      if (id != "none") ids.push_back(id);
    }
    for (const auto& [id, cost] : config.compressor_costs->as_map()) {
      (void)one_of(id, "compressor", ids);
    }
  }
  config.pack = root.find("pack");
  config.unpack = root.find("unpack");
  config.update = root.find("update");
}

void refuse_too_many_cases(const Node& root, const SimulateConfig& config) {
  const auto at_least_one = [](std::size_t count) {
    return static_cast<double>(std::max<std::size_t>(count, 1));
  };
  // A model is a workload on each accelerator. Each list is far below 2^20 long, as the file is.
  const std::size_t workloads =
      config.workloads.size() + count_models(config) * (config.accelerators.size() - 1);
  const double cases = static_cast<double>(workloads) * at_least_one(config.clusters.size()) *
                       at_least_one(config.bandwidths_gbps.size()) *
                       at_least_one(config.ranks.size()) *
                       static_cast<double>(config.compressors.size()) *
                       static_cast<double>(config.strategies.size());
  if (cases > kMaxCases) {
    root.at("workloads")
        .fail(fmt::format("workloads x accelerators x clusters x bandwidths x ranks x compressors "
                          "x strategies make {} cases, expected at most {}; split the config",
                          cases, kMaxCases));
  }
}

}  // namespace

SimulateConfig load_simulate_config(const std::filesystem::path& file,
                                    const ConfigVocabulary& vocabulary) {
  return simulate_config_from(parse_file(file, kConfigLimits), file, vocabulary);
}

SimulateConfig simulate_config_from(const Node& root, const std::filesystem::path& source,
                                    const ConfigVocabulary& vocabulary) {
  root.allow_keys({"name", "workloads", "strategies", "compressors", "accelerators", "clusters",
                   "ranks", "bandwidths_gbps", "grad_dtype", "accumulation", "compressor_costs",
                   "pack", "unpack", "update"});
  const std::filesystem::path folder = std::filesystem::absolute(source).parent_path();
  SimulateConfig config;
  config.source = source;
  config.root = root;
  config.name = detail::read_name(root.at("name"));
  config.workloads = detail::read_workloads(root.at("workloads"), folder, vocabulary);
  config.strategies =
      detail::read_choices(root.at("strategies"), "strategy", vocabulary.strategies);
  if (const auto node = root.find("compressors")) {
    config.compressors = detail::read_compressors(*node, vocabulary);
  }
  read_accelerators(root, folder, vocabulary, config);
  read_networks(root, folder, vocabulary, config);
  if (const auto node = root.find("grad_dtype")) {
    config.grad_dtype = one_of(*node, "grad_dtype", {"fp32", "fp16", "bf16"});
  }
  if (const auto node = root.find("accumulation")) {
    config.accumulation = detail::small_integer(*node, 1, kMaxAccumulation);
  }
  read_costs(root, vocabulary, config);
  refuse_too_many_cases(root, config);
  return config;
}

nlohmann::json to_json(const SimulateConfig& config) {
  nlohmann::json object = {
      {"name", config.name},
      {"workloads", detail::json_list(config.workloads, detail::workload_json)},
      {"strategies", detail::json_list(config.strategies, detail::choice_json)},
      {"compressors", detail::json_list(config.compressors, detail::choice_json)},
  };
  if (count_models(config) > 0) object["accelerators"] = config.accelerators;
  if (!config.clusters.empty()) {
    object["clusters"] = config.clusters;
    object["ranks"] = config.ranks;
  }
  if (!config.bandwidths_gbps.empty()) object["bandwidths_gbps"] = config.bandwidths_gbps;
  if (config.grad_dtype) object["grad_dtype"] = *config.grad_dtype;
  if (config.accumulation) object["accumulation"] = *config.accumulation;
  return object;
}

}  // namespace mergewise
