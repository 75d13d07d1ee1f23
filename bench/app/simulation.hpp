// SPDX-License-Identifier: Apache-2.0
// Cases in virtual time: every workload on every cluster, by every strategy; no ranks, no clock.
#pragma once

#include "bench/config/run_config.hpp"
#include "bench/config/simulate_config.hpp"
#include "bench/cost/cluster.hpp"
#include "bench/cost/profile.hpp"
#include "bench/result/result.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mergewise {

/// Layer times, ready for any network.
struct SimulatedWorkload {
  /// In the gradients' type, with all costs but those of collectives. Those it has count where the
  /// simulation has no networks.
  Profile profile;
  std::int64_t batch = 1;
  std::string times = "given";  ///< as CaseRecord::times
  std::string times_from;
  std::string accelerator;  ///< "" where none was modelled
};

struct SimulatedNetwork {
  Cluster cluster;
  double gbps = 0;  ///< of the network between its nodes; 0 where it has published lines instead
};

/// What is simulated: the product of all lists. Without networks each workload counts at its own
/// number of ranks, and `ranks` is empty.
struct Simulation {
  std::string name;
  nlohmann::json config;  ///< for the result
  std::vector<SimulatedWorkload> workloads;
  std::vector<SimulatedNetwork> networks;
  std::vector<int> ranks;
  std::vector<ChoiceConfig> compressors{{"none", {}}};
  std::vector<ChoiceConfig> strategies;
};

/// All of a run config's words, the clusters, and all compressors whose messages are known.
[[nodiscard]] ConfigVocabulary simulation_vocabulary();

/// Loads everything that the config names. Throws InputError for what is wrong with it, for two
/// workloads that results could not tell apart, for a profile without ranks where there are no
/// clusters, for a bandwidth given to a cluster of published lines, and for a compressor without
/// costs, naming it.
[[nodiscard]] Simulation load_simulation(const SimulateConfig& config);

/// Up to this many cases and, in all cases together, tensors a result keeps everything; a larger
/// one is compact: cases without plan and predicted spans, profiles (one for each workload) without
/// costs of collectives.
inline constexpr std::size_t kMostFullCases = 400;
inline constexpr std::size_t kMostFullTensors = 400'000;

/// Simulates all cases, in the order of the lists, the strategies innermost: workloads,
/// compressors, networks, ranks. Equal input gives an equal result, whatever the number of threads
/// (>= 1). What a strategy or a network cannot do is a case with status `skipped` and the reason.
/// Throws InputError for workloads that cannot be planned at all.
[[nodiscard]] Result simulate(const Simulation& simulation, int threads);

}  // namespace mergewise
