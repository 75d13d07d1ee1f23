// SPDX-License-Identifier: Apache-2.0
// What collectives cost on a cluster: the formulas of its links, put together (docs/simulation.md).
#include "bench/cost/cluster.hpp"

#include "bench/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mergewise {
namespace {

constexpr Algorithm kBest[] = {Algorithm::kRing, Algorithm::kTree, Algorithm::kHalvingDoubling};

using Lines = std::vector<LinearCost>;

LinearCost operator+(const LinearCost& one, const LinearCost& other) {
  return {one.a_ns + other.a_ns, one.b_ns_per_byte + other.b_ns_per_byte};
}

bool covers(const LinearCost& low, const LinearCost& high) {
  return low.a_ns <= high.a_ns && low.b_ns_per_byte <= high.b_ns_per_byte;
}

// Lines that another is never above are left out: where one algorithm is best for all sizes, the
// cost is a line, for which planning is cheapest.
CollectiveCost least_of(const Lines& lines) {
  Lines needed;
  for (const LinearCost& line : lines) {
    const auto beats = [&](const LinearCost& other) { return covers(other, line); };
    if (std::any_of(needed.begin(), needed.end(), beats)) continue;
    std::erase_if(needed, [&](const LinearCost& other) { return covers(line, other); });
    needed.push_back(line);
  }
  CollectiveCost cost;
  cost.isolated = CostModel(BestOfCost{needed});
  return cost;
}

Lines all_reduces(const LinkCosts& link, const std::optional<Algorithm>& only, int ranks) {
  if (only) return {all_reduce_line(*only, link, ranks)};
  Lines lines;
  for (const Algorithm algorithm : kBest) lines.push_back(all_reduce_line(algorithm, link, ranks));
  return lines;
}

Lines all_gathers(const LinkCosts& link, const std::optional<Algorithm>& only, int ranks) {
  if (only == Algorithm::kRing) return {all_gather_line(Algorithm::kRing, link, ranks)};
  return {all_gather_line(Algorithm::kRecursiveDoubling, link, ranks)};
}

CollectiveCosts costs_of_links(const LinkCosts& link, const std::optional<Algorithm>& only,
                               int ranks) {
  return {least_of(all_reduces(link, only, ranks)), least_of(all_gathers(link, only, ranks)),
          least_of({reduce_scatter_line(link, ranks)})};
}

// The slower of two links in each respect: a ring through both waits for it in every step.
LinkCosts slower(const LinkCosts& one, const LinkCosts& other) {
  return {std::max(one.alpha_ns, other.alpha_ns),
          std::max(one.beta_ns_per_byte, other.beta_ns_per_byte),
          std::max(one.gamma_ns_per_byte, other.gamma_ns_per_byte)};
}

// Several nodes of several GPUs. Between the nodes each GPU handles its own part of the data, so
// that together they send all of it through the node's network but each adds up only its part.
CollectiveCosts hierarchical(const Cluster& cluster, int ranks) {
  const int gpus = cluster.gpus_per_node;
  const int nodes = ranks / gpus;
  const LinkCosts& inside = *cluster.node;
  LinkCosts between = cluster.network;
  between.gamma_ns_per_byte /= gpus;
  LinkCosts between_gathers = cluster.network;
  between_gathers.beta_ns_per_byte *= gpus;  // of what one GPU contributes

  Lines reduces = all_reduces(between, cluster.algorithm, nodes);
  // Each GPU contributes the part of the data that it holds, then one part for each node.
  const double part = 1.0 / gpus;
  LinearCost last = all_gather_line(Algorithm::kRing, inside, gpus);
  const LinearCost gather_inside{last.a_ns, last.b_ns_per_byte * nodes};
  last.b_ns_per_byte *= part;
  const LinearCost first = reduce_scatter_line(inside, gpus);
  for (LinearCost& line : reduces) line = first + line + last;
  Lines gathers = all_gathers(between_gathers, cluster.algorithm, nodes);
  for (LinearCost& line : gathers) line = line + gather_inside;
  Lines scatters{first + reduce_scatter_line(between, nodes)};

  if (!cluster.algorithm || *cluster.algorithm == Algorithm::kRing) {
    const LinkCosts ring = slower(cluster.network, inside);
    reduces.push_back(all_reduce_line(Algorithm::kRing, ring, ranks));
    gathers.push_back(all_gather_line(Algorithm::kRing, ring, ranks));
    scatters.push_back(reduce_scatter_line(ring, ranks));
  }
  return {least_of(reduces), least_of(gathers), least_of(scatters)};
}

std::string ranks_of(const std::map<int, LinearCost>& lines) {
  std::string text;
  for (const auto& [ranks, line] : lines)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", ranks);
  return text.empty() ? "none" : text;
}

CollectiveCosts published(const Cluster& cluster, int ranks) {
  const auto find = [&](const std::map<int, LinearCost>& lines) -> std::optional<CollectiveCost> {
    const auto found = lines.find(ranks);
    if (found == lines.end()) return std::nullopt;
    return least_of({found->second});
  };
  CollectiveCosts costs{find(cluster.all_reduce), find(cluster.all_gather),
                        find(cluster.reduce_scatter)};
  if (!costs.all_reduce && !costs.all_gather && !costs.reduce_scatter) {
    throw InputError(fmt::format(
        "cluster '{}' has no published costs between {} GPUs, expected a number that it has: "
        "all-reduce {}; all-gather {}; reduce-scatter {}",
        cluster.name, ranks, ranks_of(cluster.all_reduce), ranks_of(cluster.all_gather),
        ranks_of(cluster.reduce_scatter)));
  }
  return costs;
}

}  // namespace

CollectiveCosts costs_of(const Cluster& cluster, int ranks) {
  if (ranks < 1) {
    throw InputError(
        fmt::format("cluster '{}' is asked for {} GPUs, expected at least 1", cluster.name, ranks));
  }
  if (ranks == 1) {
    const CollectiveCost nothing{CostModel(), std::nullopt, std::nullopt};
    return {nothing, nothing, nothing};
  }
  if (cluster.published()) return published(cluster, ranks);
  const int gpus = cluster.gpus_per_node;
  if (gpus == 1) return costs_of_links(cluster.network, cluster.algorithm, ranks);
  MERGEWISE_CHECK(gpus > 1 && cluster.node, "a node of several GPUs has links inside");
  if (ranks <= gpus) return costs_of_links(*cluster.node, std::nullopt, ranks);
  if (ranks % gpus != 0) {
    throw InputError(fmt::format(
        "cluster '{}' has {} GPUs a node, {} would fill the last node in part: expected at most {} "
        "or a multiple of it",
        cluster.name, gpus, ranks, gpus));
  }
  return hierarchical(cluster, ranks);
}

void set_costs(Profile& profile, int ranks, const CollectiveCosts& costs) {
  profile.ranks = ranks;
  profile.all_reduce = costs.all_reduce;
  profile.all_gather = costs.all_gather;
  profile.reduce_scatter = costs.reduce_scatter;
}

Cluster with_bandwidth(Cluster cluster, double gbps) {
  if (cluster.published()) {
    throw InputError(fmt::format(
        "cluster '{}' has published lines, which have no bandwidth to change: take one that is "
        "described by its links",
        cluster.name));
  }
  if (!(gbps > 0)) {
    throw InputError(fmt::format("a bandwidth of {} Gbit/s, expected more than 0", gbps));
  }
  cluster.network.beta_ns_per_byte = 8 / gbps;
  return cluster;
}

}  // namespace mergewise
