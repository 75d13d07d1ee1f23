// SPDX-License-Identifier: Apache-2.0
// A run config: YAML in, validated and typed out.
#pragma once

#include "bench/config/node.hpp"
#include "bench/core/options.hpp"
#include "bench/core/units.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mergewise {

/// "wfbp" | {ddp: {cap_bytes: 26214400}}: an id and what was given for it (checked against the
/// vocabulary).
struct ChoiceConfig {
  std::string id;
  Options options;
  friend bool operator==(const ChoiceConfig&, const ChoiceConfig&) = default;
};

/// The ids and options that a config may name; bench/app fills it from the registries, so that this
/// folder knows none.
struct ConfigVocabulary {
  std::vector<std::string> models;
  std::map<std::string, std::vector<OptionSpec>> strategies;
  std::map<std::string, std::vector<OptionSpec>> compressors;
  /// Throws InputError for options of a compressor that do not go together; may be empty.
  std::function<void(const ChoiceConfig&)> check_compressor{};
  std::vector<std::string> accelerators;
  std::vector<std::string> clusters;  ///< of simulations
  std::vector<std::string> devices;
  std::vector<std::string> collectives;
};

/// {model: resnet50, batch: 64} (and image_size or sequence_length) | {profile: FILE} |
/// {file: MODEL.yaml}. Paths are relative to the config; here they are absolute.
struct WorkloadConfig {
  std::string model;
  std::int64_t batch = 0;       ///< with model: required, >= 1
  std::int64_t image_size = 0;  ///< 0: the model's own
  std::int64_t sequence_length = 0;
  std::filesystem::path profile;
  std::filesystem::path file;
  friend bool operator==(const WorkloadConfig&, const WorkloadConfig&) = default;
};

struct RunConfig {
  std::string name;  ///< letters, digits, '.', '_' and '-': it names files
  std::vector<WorkloadConfig> workloads;
  std::vector<ChoiceConfig> strategies;
  std::vector<ChoiceConfig> compressors{{"none", {}}};
  std::vector<int> ranks{1};
  std::string device = "cpu";
  std::string collective = "gloo";
  struct Compute {
    std::string mode = "timed";        ///< timed | gemm
    std::string accelerator = "v100";  ///< id in configs/accelerators or a path
    friend bool operator==(const Compute&, const Compute&) = default;
  } compute;
  struct Link {
    static constexpr double kMostUs = 1e9;
    static constexpr double kLeastGbps = 1e-6;
    static constexpr double kMostGbps = 1e6;
    double a_us = 0;  ///< 0 to kMostUs
    double gbps = 0;  ///< kLeastGbps to kMostGbps
    friend bool operator==(const Link&, const Link&) = default;
  };
  std::optional<Link> link;
  int accumulation = 1;           ///< micro-batches an iteration; only the last one communicates
  std::string buffers = "slice";  ///< slice (merging copies nothing) | copy (measures packing)
  struct Iterations {
    int block = 5;
    int max = 50;
    double target = 0.02;  ///< half width of the median's interval, relative: narrow enough to stop
    friend bool operator==(const Iterations&, const Iterations&) = default;
  } iterations;
  Nanoseconds budget_ns = 0;  ///< 0: none. "150s", "10m", "2h", "500ms"
  std::uint64_t seed = 1;
  Nanoseconds deadline_ns = 60e9;  ///< after which a silent rank counts as failed

  std::filesystem::path source;  ///< the file it came from

  friend bool operator==(const RunConfig&, const RunConfig&) = default;
};

/// Reads and validates. Throws InputError for the first thing wrong: "FILE:LINE:COLUMN: ..." with
/// the offending text, what is valid and the nearest match. Checks everything that can be checked
/// without running: unknown and duplicate keys, types, ranges, duplicate workloads / strategies /
/// ranks (two spellings of the same strategy and options count too), missing files, at most 10,000
/// cases. Whether device, collective and link go together is for bench/app to say.
[[nodiscard]] RunConfig load_run_config(const std::filesystem::path& file,
                                        const ConfigVocabulary& vocabulary);
[[nodiscard]] RunConfig run_config_from(const Node& root, const std::filesystem::path& source,
                                        const ConfigVocabulary& vocabulary);

/// The config as it was understood, complete with defaults, in the config file's own form: read
/// again it gives an equal one (but for `source`).
[[nodiscard]] nlohmann::json to_json(const RunConfig& config);

/// "150s", "10m", "1.5h", "500ms" or a plain number of seconds; above 0, at most 10000h. Throws
/// InputError.
[[nodiscard]] Nanoseconds parse_duration(const std::string& text);

}  // namespace mergewise
