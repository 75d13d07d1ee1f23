// SPDX-License-Identifier: Apache-2.0
// A simulation config: YAML in, validated and typed out (docs/simulation.md).
#pragma once

#include "bench/config/node.hpp"
#include "bench/config/run_config.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace mergewise {

struct SimulateConfig {
  std::string name;  ///< letters, digits, '.', '_' and '-': it names files
  std::vector<WorkloadConfig> workloads;
  std::vector<ChoiceConfig> strategies;
  std::vector<ChoiceConfig> compressors{{"none", {}}};
  bool own_compressors = true;  ///< false: a command line gave them instead of the file
  /// Ids in configs/accelerators or absolute paths; each makes a workload of each model.
  std::vector<std::string> accelerators{"v100"};
  /// Ids in configs/clusters or absolute paths. None: all workloads are profiles, whose own costs
  /// of collectives count at their own number of ranks; `ranks` and `bandwidths_gbps` are empty.
  std::vector<std::string> clusters;
  std::vector<int> ranks;
  std::vector<double> bandwidths_gbps;    ///< each makes every cluster again; none: as described
  std::optional<std::string> grad_dtype;  ///< fp32 | fp16 | bf16; none: as the workload has it
  std::optional<int> accumulation;        ///< micro-batches an iteration; none: as the workload has
  /// Costs that are read by bench/cost, which this folder knows nothing of: {ID: {compress,
  /// decompress}}, and a cost model each.
  std::optional<Node> compressor_costs;
  std::optional<Node> pack;
  std::optional<Node> unpack;
  std::optional<Node> update;

  std::filesystem::path source;  ///< the file it came from
  /// What was read, so that what only shows once its names are loaded is refused at its place.
  std::optional<Node> root;
};

/// Reads and validates. Throws InputError for the first thing wrong, as load_run_config() does;
/// refused beside what that refuses: more than 200,000 cases, accelerators without a model, and
/// what `clusters` says above. What the cost models hold is checked by who reads them.
[[nodiscard]] SimulateConfig load_simulate_config(const std::filesystem::path& file,
                                                  const ConfigVocabulary& vocabulary);
[[nodiscard]] SimulateConfig simulate_config_from(const Node& root,
                                                  const std::filesystem::path& source,
                                                  const ConfigVocabulary& vocabulary);

/// The config as it was understood, in the config file's own form, without the costs: these are
/// for who reads them to add.
[[nodiscard]] nlohmann::json to_json(const SimulateConfig& config);

}  // namespace mergewise
