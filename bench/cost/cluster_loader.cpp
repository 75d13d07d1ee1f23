// SPDX-License-Identifier: Apache-2.0
// Reads cluster descriptions (configs/clusters/*.yaml).
#include "bench/config/choices.hpp"
#include "bench/cost/cluster.hpp"

#include <fmt/format.h>

#include <vector>

namespace mergewise {
namespace {

constexpr const char* kSchema = "mergewise/cluster/1";
constexpr int kMostGpus = 4096;
constexpr double kMostTime = 1e15;
constexpr double kLeastGbps = 1e-6;
constexpr double kMostGbps = 1e9;

std::string said(const Node& node, const char* what) {
  std::string text = node.as_string();
  if (text.empty()) node.fail(fmt::format("'{}' is empty, expected a sentence", what));
  return text;
}

// A time as `NAME_us` or `NAME_ns`, exactly one of them.
Nanoseconds time_from(const Node& node, const std::string& name) {
  const auto in_us = node.find(name + "_us");
  const auto in_ns = node.find(name + "_ns");
  if (in_us.has_value() == in_ns.has_value()) {
    node.fail(fmt::format("expected either '{0}_us' or '{0}_ns'", name));
  }
  return in_us ? 1e3 * in_us->as_number(0, kMostTime / 1e3) : in_ns->as_number(0, kMostTime);
}

LinkCosts link_from(const Node& node) {
  node.allow_keys({"alpha_us", "alpha_ns", "gbps", "gamma_ns_per_byte"});
  LinkCosts link;
  link.alpha_ns = time_from(node, "alpha");
  link.beta_ns_per_byte = 8 / node.at("gbps").as_number(kLeastGbps, kMostGbps);
  if (const auto gamma = node.find("gamma_ns_per_byte")) {
    link.gamma_ns_per_byte = gamma->as_number(0, kMostTime);
  }
  return link;
}

std::map<int, LinearCost> lines_from(const Node& root, const char* collective) {
  std::map<int, LinearCost> lines;
  const auto list = root.find(collective);
  if (!list) return lines;
  if (list->as_list().empty()) {
    list->fail(fmt::format("'{}' is empty, expected at least one line", collective));
  }
  for (const Node& entry : list->as_list()) {
    entry.allow_keys({"ranks", "a_us", "a_ns", "b_ns_per_byte"});
    const Node number = entry.at("ranks");
    const auto ranks = static_cast<int>(number.as_integer(2, kMostGpus));
    const LinearCost line{time_from(entry, "a"), entry.at("b_ns_per_byte").as_number(0, kMostTime)};
    if (!lines.emplace(ranks, line).second) {
      number.fail(
          fmt::format("there is a line for {} ranks already, expected one for each number", ranks));
    }
  }
  return lines;
}

void read_links(const Node& root, Cluster& cluster) {
  cluster.network = link_from(root.at("network"));
  if (const auto gpus = root.find("gpus_per_node")) {
    cluster.gpus_per_node = static_cast<int>(gpus->as_integer(1, kMostGpus));
    if (cluster.gpus_per_node > 1 && !root.find("node")) {
      gpus->fail(fmt::format("{} GPUs a node need 'node', expected the links between them",
                             cluster.gpus_per_node));
    }
  }
  if (const auto node = root.find("node")) {
    if (cluster.gpus_per_node == 1) {
      node->fail("one GPU a node has no links inside, expected 'gpus_per_node' above 1 with it");
    }
    cluster.node = link_from(*node);
  }
  if (const auto algorithm = root.find("algorithm")) {
    // The published double tree promises more than the network can carry: never on a real one.
    std::vector<std::string> names = algorithm_names();
    std::erase(names, name_of(Algorithm::kDoubleTreePublished));
    cluster.algorithm = algorithm_from(one_of(*algorithm, "algorithm", names));
  }
}

Cluster cluster_from(const Node& root, const std::string& expected_name) {
  root.allow_keys({"schema", "name", "description", "source", "gpus_per_node", "network", "node",
                   "algorithm", "all_reduce", "all_gather", "reduce_scatter"});
  static_cast<void>(one_of(root.at("schema"), "schema", {kSchema}));
  Cluster cluster;
  // One id everywhere: results name the cluster, so the name must lead back to the file.
  cluster.name = one_of(root.at("name"), "cluster name", {expected_name});
  cluster.description = said(root.at("description"), "description");
  cluster.source = said(root.at("source"), "source");
  cluster.all_reduce = lines_from(root, "all_reduce");
  cluster.all_gather = lines_from(root, "all_gather");
  cluster.reduce_scatter = lines_from(root, "reduce_scatter");
  if (!cluster.published()) {
    read_links(root, cluster);
    return cluster;
  }
  for (const char* key : {"network", "node", "algorithm", "gpus_per_node"}) {
    if (root.find(key)) {
      root.at(key).fail(fmt::format(
          "'{}' beside published lines would not be used, expected one or the other", key));
    }
  }
  return cluster;
}

}  // namespace

std::vector<std::string> cluster_ids(const std::filesystem::path& folder) {
  return yaml_ids(folder, "cluster");
}

Cluster load_cluster(const std::string& id, const std::filesystem::path& folder) {
  const std::filesystem::path file = yaml_file(id, folder, "cluster");
  return cluster_from(parse_file(file, kConfigLimits), file.stem().string());
}

}  // namespace mergewise
