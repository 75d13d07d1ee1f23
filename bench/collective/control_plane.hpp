// SPDX-License-Identifier: Apache-2.0
// Every rank's own connection to rank 0: rendezvous, small exchanges, heartbeats, and the verdict
// when a rank fails. Gloo and NCCL cannot tell who died or stalled; this can.
#pragma once

#include "bench/collective/rank.hpp"
#include "bench/core/units.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mergewise {

/// Offset of a rank's clock against rank 0's at one instant, by the ping-pong of least round trip.
struct ClockSample {
  Stamp at = 0;               ///< this rank's clock when sampled
  Nanoseconds offset_ns = 0;  ///< this rank's clock minus rank 0's
  Nanoseconds error_ns = 0;   ///< bound: half the least round trip
};

/// Star of TCP connections with rank 0 in the middle; with one rank everything is local and
/// trivial. A background thread sends heartbeats and listens. Collective calls (barrier, gather,
/// broadcast, all_gather) are made by one thread of every rank in the same order; they throw
/// BackendError with the verdict when a rank failed, also while waiting.
class ControlPlane {
 public:
  /// Called once, from the background thread, when a rank died, stalled, reported a failure or
  /// disagreed. The verdict is one sentence that names the rank and the group it was in. The
  /// handler may end the process; it must not destroy the control plane. A single rank has no
  /// background thread and never calls it.
  using FailureHandler = std::function<void(const std::string& verdict)>;

  /// Meets the other ranks. Throws BackendError when the deadline passes, naming the missing ranks
  /// (rank 0) or rank 0's address (others); InputError for a world size that differs between ranks,
  /// a port in use, or a rank given twice.
  static std::unique_ptr<ControlPlane> connect(const RankIdentity& identity,
                                               const Rendezvous& rendezvous,
                                               const NetworkOptions& network,
                                               FailureHandler on_failure);
  virtual ~ControlPlane() = default;  ///< says goodbye: leaving is not dying

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  /// The address other ranks reach this one at, as used on the control connection (what Gloo binds
  /// to).
  [[nodiscard]] virtual std::string local_address() const = 0;
  /// True when all ranks run on this host (equal boot id and network namespace).
  [[nodiscard]] virtual bool single_host() const = 0;

  virtual void barrier() = 0;
  /// Every rank's bytes, in rank order, on every rank.
  virtual std::vector<std::string> all_gather(std::string_view mine) = 0;
  /// Rank 0's bytes on every rank.
  virtual std::string broadcast(std::string_view mine) = 0;

  /// A key-value store held by rank 0, for rendezvous of back ends. get() blocks until the key is
  /// there or the deadline.
  virtual void set(const std::string& key, std::string_view value) = 0;
  virtual std::string get(const std::string& key) = 0;

  /// "prefix/0", "prefix/1", ...: a key prefix of its own for each thing that ranks build together.
  /// The same on all ranks that make the same calls with this prefix. By the thread that makes the
  /// collective calls.
  [[nodiscard]] std::string numbered(const std::string& prefix);

  /// Where this rank is, for verdicts and heartbeats: a short phase and a group number (-1: none).
  /// Wait-free; one thread sets the phase (cut to 127 bytes), any the group.
  virtual void set_phase(std::string_view phase) = 0;
  virtual void set_group(std::int64_t group) = 0;

  /// This rank failed: tells rank 0, waits briefly for the verdict (a peer's death explains a
  /// broken connection better than the broken connection does) and returns it.
  virtual std::string report_failure(const std::string& message) = 0;

  /// Collective: this rank's clock against rank 0's.
  virtual ClockSample sample_clock() = 0;

 private:
  std::map<std::string, int> numbers_;
};

}  // namespace mergewise
