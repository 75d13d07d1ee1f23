// SPDX-License-Identifier: Apache-2.0
// How the ranks find rank 0 and it finds them: everything before the first heartbeat. Private to
// this folder.
#pragma once

#include "bench/collective/channel.hpp"
#include "bench/collective/rank.hpp"

#include <string>
#include <vector>

namespace mergewise::detail {

/// What rank 0 has once all are there.
struct Gathering {
  std::vector<Channel> channels;  ///< by rank; rank 0's is empty
  bool single_host = false;
  std::string address;  ///< where the others reached rank 0
};

/// What every other rank has then.
struct Membership {
  Channel channel;  ///< to rank 0
  Welcome welcome;
};

/// Rank 0: listens, publishes where, and waits for all others. Throws as ControlPlane::connect
/// does; whoever has come is told why.
[[nodiscard]] Gathering gather_ranks(const RankIdentity& identity, const Rendezvous& rendezvous,
                                     const NetworkOptions& network);

/// The others: look for rank 0 until the deadline, since it may start later or its file may be a
/// leftover.
[[nodiscard]] Membership join_rank0(const RankIdentity& identity, const Rendezvous& rendezvous,
                                    const NetworkOptions& network);

/// The end that --interface or --address asks for, port 0; nullopt when neither is given. Throws
/// InputError for an interface that is not there and for a host name that stands for a loopback
/// address.
[[nodiscard]] std::optional<Endpoint> own_endpoint(const NetworkOptions& network);

/// "file:DIR" or "tcp:HOST:PORT".
[[nodiscard]] std::string describe(const Rendezvous& rendezvous);

/// "rank 3", "ranks 1, 2 and 5".
[[nodiscard]] std::string name_ranks(const std::vector<int>& ranks);

}  // namespace mergewise::detail
