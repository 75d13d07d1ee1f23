// SPDX-License-Identifier: Apache-2.0
// When each rank arrived at each collective, in memory that all ranks of this host share. Private
// to this folder.
#pragma once

#include "bench/collective/control_plane.hpp"
#include "bench/core/units.hpp"

#include <atomic>
#include <cstdint>

namespace mergewise::detail {

/// One slot per rank and collective, reused in turn. A collective ends on no rank before all have
/// entered it, so no rank is ever more than one collective ahead: two slots would do.
class StampTable {
 public:
  static constexpr std::int64_t kSlots = 4;

  /// Collective over the first `ranks` ranks, which all must run on this host. The file behind the
  /// memory is removed as soon as all have it. Throws BackendError on all of them when one fails.
  StampTable(ControlPlane& control, int ranks);
  ~StampTable();
  StampTable(const StampTable&) = delete;
  StampTable& operator=(const StampTable&) = delete;

  /// This rank arrives at collective `sequence` (0, 1, ...) now. No allocation.
  void arrive(std::int64_t sequence, Stamp at);
  /// The last rank's arrival; call once the collective is over. Throws BackendError when a rank has
  /// not arrived: then it was no collective.
  [[nodiscard]] Stamp last_arrival(std::int64_t sequence) const;

 private:
  struct Slot {
    std::atomic<std::int64_t> sequence;
    std::atomic<Stamp> at;
  };
  static_assert(std::atomic<std::int64_t>::is_always_lock_free);

  [[nodiscard]] Slot& slot(int rank, std::int64_t sequence) const;

  int rank_;
  int ranks_;
  std::size_t bytes_;
  Slot* slots_ = nullptr;
};

}  // namespace mergewise::detail
