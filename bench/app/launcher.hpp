// SPDX-License-Identifier: Apache-2.0
// Starts local ranks by executing this program anew (a process linked to OpenBLAS has threads
// before main, so a bare fork would not do), and waits for them.
#pragma once

#include "bench/core/error.hpp"

#include <string>
#include <vector>

namespace mergewise {

/// Set for local ranks, so that they know who started them.
inline constexpr const char* kLocalRankVariable = "MERGEWISE_LOCAL_LAUNCH";

/// Appends "FLAG VALUE" to a command's arguments; nothing for "".
void append_option(std::vector<std::string>& arguments, const std::string& flag,
                   const std::string& value);

/// Runs `arguments` (without the program's name) in `ranks` processes, each with --rank,
/// --world-size, --local-rank,
/// --rendezvous and --address added. The rendezvous is a temporary directory, removed afterwards.
/// Signals are passed on. When a rank fails, the others get ten seconds to end by themselves.
/// Returns 0 when all did, else the exit code of the lowest failed rank (3 for one killed by a
/// signal). Throws BackendError when a process cannot be started.
[[nodiscard]] ExitCode launch_local_ranks(int ranks, const std::vector<std::string>& arguments);

}  // namespace mergewise
