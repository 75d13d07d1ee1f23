// SPDX-License-Identifier: Apache-2.0
// What a simulation config names, loaded: layer times, networks, and costs of what is no
// collective.
#include "bench/app/case_set.hpp"
#include "bench/app/data_folder.hpp"
#include "bench/app/load_workloads.hpp"
#include "bench/app/simulation.hpp"
#include "bench/app/vocabulary.hpp"
#include "bench/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mergewise {
namespace {

// Replaces what a workload brings.
struct GivenCosts {
  std::map<std::string, CompressorCost> compressors;
  std::optional<CostModel> pack;
  std::optional<CostModel> unpack;
  std::optional<CostModel> update;
};

std::optional<CostModel> cost_of(const std::optional<Node>& node) {
  if (!node) return std::nullopt;
  return cost_model_from(*node);
}

GivenCosts given_costs(const SimulateConfig& config) {
  GivenCosts costs;
  if (config.compressor_costs) costs.compressors = compressor_costs_from(*config.compressor_costs);
  costs.pack = cost_of(config.pack);
  costs.unpack = cost_of(config.unpack);
  costs.update = cost_of(config.update);
  return costs;
}

void apply(const GivenCosts& costs, Profile& profile) {
  for (const auto& [id, cost] : costs.compressors) profile.compressors[id] = cost;
  if (costs.pack) profile.pack = *costs.pack;
  if (costs.unpack) profile.unpack = *costs.unpack;
  if (costs.update) profile.update = *costs.update;
}

nlohmann::json config_json(const SimulateConfig& config, const GivenCosts& costs) {
  nlohmann::json json = to_json(config);
  for (const auto& [id, cost] : costs.compressors) {
    json["compressor_costs"][id] = {{"compress", to_json(cost.compress)},
                                    {"decompress", to_json(cost.decompress)}};
  }
  if (costs.pack) json["pack"] = to_json(*costs.pack);
  if (costs.unpack) json["unpack"] = to_json(*costs.unpack);
  if (costs.update) json["update"] = to_json(*costs.update);
  return json;
}

// The same gradients with elements of another size.
void change_dtype(Profile& profile, const Node& node) {
  const std::string& wanted = node.text();
  const Bytes old_size = size_of(profile.grad_dtype);
  for (const DType dtype : {DType::kFloat32, DType::kBfloat16, DType::kFloat16}) {
    if (name_of(dtype) == wanted) profile.grad_dtype = dtype;
  }
  const Bytes new_size = size_of(profile.grad_dtype);
  for (ProfileTensor& tensor : profile.tensors) {
    if (tensor.bytes % old_size != 0) {
      node.fail(
          fmt::format("workload '{}': tensor '{}' has {} bytes, which are no whole elements of {}: "
                      "it cannot be turned into {}",
                      profile.name, tensor.name, tensor.bytes, old_size, wanted));
    }
    tensor.bytes = tensor.bytes / old_size * new_size;
  }
}

SimulatedWorkload from_workload(const Workload& workload, std::string accelerator) {
  SimulatedWorkload simulated;
  simulated.profile = times_of(workload);
  simulated.batch = workload.batch;
  simulated.times = name_of(workload.times);
  simulated.times_from = workload.times_from;
  simulated.accelerator = std::move(accelerator);
  return simulated;
}

SimulatedWorkload from_profile(const std::filesystem::path& file, bool own_costs) {
  SimulatedWorkload simulated;
  simulated.profile = load_profile(file);
  simulated.times_from = "profile " + file.filename().string();
  if (own_costs && !simulated.profile.ranks) {
    throw InputError(fmt::format(
        "{}: the profile does not say between how many ranks its collectives cost what it says: "
        "add \"ranks\" to it, or `clusters` to the config",
        file.string()));
  }
  return simulated;
}

std::vector<SimulatedWorkload> load_one(const WorkloadConfig& workload,
                                        const SimulateConfig& config) {
  if (!workload.profile.empty()) return {from_profile(workload.profile, config.clusters.empty())};
  if (!workload.file.empty()) return {from_workload(load_workload(workload, "").workload, "")};
  std::vector<SimulatedWorkload> on_each;
  for (const std::string& accelerator : config.accelerators) {
    const bool is_path = accelerator.ends_with(".yaml");
    on_each.push_back(
        from_workload(load_workload(workload, accelerator).workload,
                      is_path ? std::filesystem::path(accelerator).stem().string() : accelerator));
  }
  return on_each;
}

// Of `node` and of `other` comes what results could not tell apart.
[[noreturn]] void refuse_twin(const Node& node, const Node& other, const std::string& twin) {
  node.fail(
      fmt::format("{}{}: results could not tell them apart; leave one out, or rename one", twin,
                  &node == &other ? " twice" : fmt::format(", like the one at {}", other.where())));
}

// `nodes`: the config's entry that each workload is of.
void check_distinct(const std::vector<SimulatedWorkload>& workloads,
                    const std::vector<const Node*>& nodes) {
  for (std::size_t later = 1; later < workloads.size(); ++later) {
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      const SimulatedWorkload& a = workloads[earlier];
      const SimulatedWorkload& b = workloads[later];
      if (a.profile.name != b.profile.name || a.batch != b.batch || a.accelerator != b.accelerator)
        continue;
      refuse_twin(*nodes[later], *nodes[earlier],
                  fmt::format("this workload is called '{}' and has batch {}{}", b.profile.name,
                              b.batch, b.accelerator.empty() ? "" : " on " + b.accelerator));
    }
  }
}

void check_compressors(const SimulateConfig& config,
                       const std::vector<SimulatedWorkload>& workloads) {
  for (std::size_t i = 0; i < config.compressors.size(); ++i) {
    const std::string& id = config.compressors[i].id;
    if (id == "none") continue;
    for (const SimulatedWorkload& workload : workloads) {
      if (workload.profile.compressors.contains(id)) continue;
      const std::string message = fmt::format(
          "what compressing by '{0}' costs is not known for workload '{1}': add "
          "`compressor_costs: {{{0}: {{compress: {{model: linear, a_ns: .., b_ns_per_byte: "
          "..}}, decompress: {{..}}}}}}` to the config (functions of a group's bytes before "
          "compression), or take a profile that has them: `mergewise calibrate --compressor {0}` "
          "measures them",
          id, workload.profile.name);
      if (!config.own_compressors) {
        throw InputError(fmt::format("{}: {}", config.source.string(), message));
      }
      config.root->at("compressors").as_list()[i].fail(message);
    }
  }
}

// Rounded to a bit/s, since 8 / (8 / x) need not be x.
double described_gbps(const Cluster& cluster) {
  const Nanoseconds beta = cluster.network.beta_ns_per_byte;
  return cluster.published() || beta <= 0 ? 0 : std::round(8e9 / beta) / 1e9;
}

std::vector<SimulatedNetwork> networks_of(const Cluster& cluster, const SimulateConfig& config) {
  if (config.bandwidths_gbps.empty()) return {{cluster, described_gbps(cluster)}};
  std::vector<SimulatedNetwork> networks;
  for (const double gbps : config.bandwidths_gbps) {
    try {
      networks.push_back({with_bandwidth(cluster, gbps), gbps});
    } catch (const InputError& error) {
      config.root->at("bandwidths_gbps").as_list()[networks.size()].fail(error.what());
    }
  }
  return networks;
}

std::vector<SimulatedNetwork> load_networks(const SimulateConfig& config) {
  std::vector<SimulatedNetwork> networks;
  std::map<std::pair<std::string, double>, std::size_t> known;  // the entry of name and bandwidth
  for (std::size_t i = 0; i < config.clusters.size(); ++i) {
    const Cluster cluster = load_cluster(config.clusters[i], clusters_folder());
    for (SimulatedNetwork& network : networks_of(cluster, config)) {
      const auto [before, is_new] = known.try_emplace({cluster.name, network.gbps}, i);
      if (!is_new) {
        const Node list = config.root->at("clusters");
        refuse_twin(list.as_list()[i], list.as_list()[before->second],
                    fmt::format("this cluster is called '{}'", cluster.name));
      }
      networks.push_back(std::move(network));
    }
  }
  return networks;
}

}  // namespace

ConfigVocabulary simulation_vocabulary() {
  ConfigVocabulary words = vocabulary();
  words.clusters = cluster_ids(clusters_folder());
  return words;
}

Simulation load_simulation(const SimulateConfig& config) {
  const GivenCosts costs = given_costs(config);
  Simulation simulation;
  simulation.name = config.name;
  simulation.config = config_json(config, costs);
  const std::vector<Node>& entries = config.root->at("workloads").as_list();
  std::vector<const Node*> nodes;  // of each workload
  for (std::size_t i = 0; i < config.workloads.size(); ++i) {
    for (SimulatedWorkload& loaded : load_one(config.workloads[i], config)) {
      apply(costs, loaded.profile);
      if (config.grad_dtype) change_dtype(loaded.profile, config.root->at("grad_dtype"));
      if (config.accumulation) loaded.profile.accumulation = *config.accumulation;
      simulation.workloads.push_back(std::move(loaded));
      nodes.push_back(&entries[i]);
    }
  }
  check_distinct(simulation.workloads, nodes);
  check_compressors(config, simulation.workloads);
  simulation.networks = load_networks(config);
  simulation.ranks = config.ranks;
  simulation.compressors = config.compressors;
  simulation.strategies = config.strategies;
  return simulation;
}

}  // namespace mergewise
