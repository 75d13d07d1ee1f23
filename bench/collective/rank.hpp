// SPDX-License-Identifier: Apache-2.0
// Who this process is among the ranks, and where they meet.
#pragma once

#include "bench/core/units.hpp"

#include <functional>
#include <optional>
#include <string>

namespace mergewise {

/// One process per rank.
struct RankIdentity {
  int rank = 0;
  int size = 1;
  int local_rank = 0;  ///< among the ranks of this host, where the launcher says so, else `rank`
  std::string source;  ///< what said so: "flags", "RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK",
                       ///< "SLURM_PROCID", "alone"
};

/// What the command line said about ranks; empty where it was silent.
struct RankFlags {
  std::optional<int> rank;
  std::optional<int> world_size;
  std::optional<int> local_rank;
};

/// The identity by flags, else RANK / WORLD_SIZE / LOCAL_RANK, else Open MPI's, else PMI's
/// variables, else Slurm's (only inside an srun step: SLURM_STEP_ID set and SLURM_PROCID present),
/// else a single rank. `environment(name)` gives a variable's value or nullopt. Throws InputError
/// for a half-given or impossible identity, naming the variables.
[[nodiscard]] RankIdentity find_identity(
    const RankFlags& flags,
    const std::function<std::optional<std::string>(const std::string&)>& environment);

/// Where ranks meet: "file:DIR" (a directory all of them see) or "tcp:HOST:PORT" (rank 0 listens
/// there).
struct Rendezvous {
  enum class Kind { kFile, kTcp } kind = Kind::kFile;
  std::string directory;
  std::string host;
  int port = 0;
};
/// Throws InputError with the two valid forms.
[[nodiscard]] Rendezvous parse_rendezvous(const std::string& text);

/// How ranks reach one another.
struct NetworkOptions {
  std::string interface;  ///< bind to this interface; "" = let `address` decide
  std::string address;  ///< bind to this address; "" = loopback when all ranks are local children,
                        ///< else the address that reaches rank 0 (never 127.x from a host name)
  Nanoseconds deadline_ns =
      60e9;  ///< for the rendezvous, for silence of a rank, and for collectives
};

}  // namespace mergewise
