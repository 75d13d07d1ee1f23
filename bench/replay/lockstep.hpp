// SPDX-License-Identifier: Apache-2.0
// Ranks that run the same blocks together and decide alike, since they decide from exchanged
// numbers only.
#pragma once

#include "bench/collective/control_plane.hpp"
#include "bench/replay/replayer.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace mergewise {

/// How many iterations a block has when `fitting` would fit: at most `block`, and two at least
/// where `block` allows, so that one has no barrier before it.
[[nodiscard]] int block_that_fits(double fitting, int block);

/// Collective over the control plane: all ranks make the same calls. Those that take no part pass
/// no replayer and only follow (their plans are not looked at). Used by one thread.
class Lockstep {
 public:
  /// `finish_by` on rank 0's clock (0: no budget); `stop_requested` may be empty.
  Lockstep(ControlPlane& control, Replayer* replayer, Stamp finish_by,
           std::function<bool()> stop_requested);

  /// Everybody's bytes. Each message also carries the wish to stop and, from rank 0, what is left
  /// of the budget.
  [[nodiscard]] std::vector<std::string> exchange(const std::string& mine);
  /// A block between barriers: per iteration the maximum over ranks.
  [[nodiscard]] std::vector<Nanoseconds> run_block(PreparedPlan& plan, int iterations);
  struct Verified {
    Nanoseconds time_ns = 0;  ///< of the iteration alone, the longest of any rank
    std::string failure;      ///< "" or what the first rank said that saw wrong sums
  };
  /// One iteration with known gradients.
  [[nodiscard]] Verified verify(PreparedPlan& plan);
  /// Throws VerificationError, naming rank and label, where a rank has another hash than rank 0.
  void compare_hashes(const std::vector<std::uint64_t>& hashes,
                      const std::vector<std::string>& labels);

  [[nodiscard]] ControlPlane& control() { return control_; }
  [[nodiscard]] Replayer* replayer() const { return replayer_; }
  /// A rank wished to stop.
  [[nodiscard]] bool interrupted() const { return interrupted_; }
  /// Of the budget, as rank 0 last said; 1e18 without one.
  [[nodiscard]] Nanoseconds remaining() const { return remaining_; }

 private:
  ControlPlane& control_;
  Replayer* replayer_;
  Stamp finish_by_;
  std::function<bool()> stop_requested_;
  std::vector<Stamp> stamps_;
  bool interrupted_ = false;
  Nanoseconds remaining_ = 1e18;
};

}  // namespace mergewise
