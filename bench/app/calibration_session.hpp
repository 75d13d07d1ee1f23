// SPDX-License-Identifier: Apache-2.0
// A calibration on this rank: layer times, copies, compressors, then each collective, within a
// budget.
#pragma once

#include "bench/app/calibration_record.hpp"
#include "bench/collective/emulated_link.hpp"
#include "bench/collective/rank.hpp"
#include "bench/config/run_config.hpp"
#include "bench/core/error.hpp"
#include "bench/cost/wire.hpp"
#include "bench/replay/calibrate.hpp"
#include "workloads/workload.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace mergewise {

struct CalibrationRequest {
  std::optional<Workload> workload;  ///< whose profile is written; nothing: only measure
  bool measure_layers = false;       ///< its real work here, instead of the times that it has
  bool copies_in_profile = false;    ///< merging copies: the profile gets pack and unpack
  std::vector<Collective> collectives;
  std::vector<CostVariant> variants;
  std::vector<ChoiceConfig> compressors;  ///< each id once
  std::optional<LinkModel> link;
  Bytes largest = 0;  ///< of an all-gather: all that is gathered
  Nanoseconds budget_ns = 0;
  std::uint64_t seed = 1;
  std::filesystem::path out;     ///< the profile; the record goes beside it
  std::string format = "table";  ///< what rank 0 prints
};

/// "profile.json" -> "profile.calibration.json".
[[nodiscard]] std::filesystem::path record_file(const std::filesystem::path& profile);

/// Measures on all ranks; rank 0 writes the record after every part of it, at the end the profile,
/// and prints. When a rank fails, the process ends from here as in run_session(). Code 3 after a
/// stop signal: what was finished is written.
[[nodiscard]] ExitCode run_calibration(const CalibrationRequest& request,
                                       const RankIdentity& identity, const Rendezvous& rendezvous,
                                       const NetworkOptions& network, bool local_launch);

}  // namespace mergewise
