// SPDX-License-Identifier: Apache-2.0
// A cluster as its description says, and what collectives cost on it: configs/clusters/*.yaml.
#pragma once

#include "bench/core/units.hpp"
#include "bench/cost/algorithm.hpp"
#include "bench/cost/profile.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mergewise {

/// What collectives cost between a number of ranks; of a kind that is missing nothing is known.
struct CollectiveCosts {
  std::optional<CollectiveCost> all_reduce;
  std::optional<CollectiveCost> all_gather;
  std::optional<CollectiveCost> reduce_scatter;
  friend bool operator==(const CollectiveCosts&, const CollectiveCosts&) = default;
};

/// The profile's number of ranks, and what its collectives cost between them.
void set_costs(Profile& profile, int ranks, const CollectiveCosts& costs);

/// Either links, from which costs follow by formulas for any number of ranks, or published lines
/// for some numbers of ranks.
struct Cluster {
  std::string name;  ///< "ethernet_10g": the file's name
  std::string description;
  std::string source;  ///< where its numbers come from
  int gpus_per_node = 1;
  LinkCosts network;              ///< between nodes; a node's GPUs share it
  std::optional<LinkCosts> node;  ///< inside a node; required where gpus_per_node > 1
  /// The algorithm between nodes; nothing: the best of ring, tree and halving-doubling per size.
  std::optional<Algorithm> algorithm;
  /// Published lines by ranks; where there are any, `network` and `node` are not used.
  std::map<int, LinearCost> all_reduce;
  std::map<int, LinearCost> all_gather;
  std::map<int, LinearCost> reduce_scatter;
  friend bool operator==(const Cluster&, const Cluster&) = default;

  [[nodiscard]] bool published() const {
    return !all_reduce.empty() || !all_gather.empty() || !reduce_scatter.empty();
  }
};

/// The costs between `ranks` GPUs, which fill nodes one after the other. On more than one node with
/// several GPUs each: a reduce-scatter inside the nodes, an all-reduce between them in which a
/// node's GPUs share its network, an all-gather inside; or a flat ring where that is cheaper. One
/// rank: costs nothing. Throws InputError for published lines that have not this number of ranks
/// (with those there are), or a last node that would be partly filled.
[[nodiscard]] CollectiveCosts costs_of(const Cluster& cluster, int ranks);

/// The same cluster with another network bandwidth (Gbit/s, > 0). Throws InputError for published
/// lines.
[[nodiscard]] Cluster with_bandwidth(Cluster cluster, double gbps);

/// Loads `id` from the folder, or a path ending in .yaml. Throws InputError with file, line and
/// column, or with the ids that exist.
[[nodiscard]] Cluster load_cluster(const std::string& id, const std::filesystem::path& folder);
[[nodiscard]] std::vector<std::string> cluster_ids(const std::filesystem::path& folder);

}  // namespace mergewise
