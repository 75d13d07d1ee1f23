// SPDX-License-Identifier: Apache-2.0
// A run on this rank: config -> workload -> profile -> merge plans -> replay -> result.
#pragma once

#include "bench/app/load_workloads.hpp"
#include "bench/app/result_book.hpp"
#include "bench/collective/rank.hpp"
#include "bench/config/run_config.hpp"
#include "bench/core/error.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace mergewise {

/// What rank 0 does with a complete result: prints it, and says how it ends.
using Conclusion = std::function<ExitCode(const ResultBook& book)>;

struct SessionOptions {
  std::filesystem::path out;     ///< folder of result.json and trace.json; used by rank 0 only
  std::string format = "table";  ///< what rank 0 prints at the end
  bool local_launch = false;     ///< started by our own launcher: only one rank prints a failure
  std::size_t shortlist = 0;     ///< see Session
  Conclusion conclude{};         ///< instead of printing ranking or result
};

/// Fine when every case that was to be measured was.
[[nodiscard]] ExitCode exit_code_of(const std::vector<CaseRecord>& cases);

/// Runs all cases of the config on this rank. Rank 0 writes and prints. When a rank fails, the
/// process ends from here with one message and exit code 3, since a collective that waits for a
/// dead peer cannot be unwound.
[[nodiscard]] ExitCode run_session(const RunConfig& config,
                                   const std::vector<LoadedWorkload>& workloads,
                                   const RankIdentity& identity, const Rendezvous& rendezvous,
                                   const NetworkOptions& network, const SessionOptions& options);

}  // namespace mergewise
