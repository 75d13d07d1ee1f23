// SPDX-License-Identifier: Apache-2.0
// The options of every command that runs on several ranks: who this process is, and where the ranks
// meet.
#pragma once

#include "bench/collective/rank.hpp"

#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace mergewise {

struct RankArguments {
  std::optional<int> ranks;  ///< to be started here
  RankFlags identity;
  std::string rendezvous;
  std::string interface;
  std::string address;
  std::string deadline;  ///< as written; "" where the command line is silent
};

/// `--ranks` (with this text for --help), `--deadline` and the launcher's options.
void add_rank_options(CLI::App& command, RankArguments& arguments, const std::string& ranks_help);

/// Who this process is. Throws InputError for half an identity, or for --ranks under a launcher.
[[nodiscard]] RankIdentity identity_of(const RankArguments& arguments);
/// Nobody said that there are other ranks: local ones are to be started.
[[nodiscard]] bool is_alone(const RankIdentity& identity);
/// Where the ranks meet. Throws InputError when nothing says so.
[[nodiscard]] Rendezvous rendezvous_of(const RankArguments& arguments,
                                       const RankIdentity& identity);
/// With --deadline, or else this one.
[[nodiscard]] NetworkOptions network_of(const RankArguments& arguments, Nanoseconds deadline_ns);

/// A process that is about to work as one rank: stop signals are noticed, and a local rank ends
/// with the process that started it. True for such a local rank.
bool become_rank();

}  // namespace mergewise
