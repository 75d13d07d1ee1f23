// SPDX-License-Identifier: Apache-2.0
// The sentences that tell people which rank failed, and the times after which it counts as failed.
// Private to this folder.
#pragma once

#include "bench/collective/message.hpp"
#include "bench/core/units.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace mergewise::detail {

/// All in nanoseconds, derived from the deadline so that every rank ends within it.
struct Patience {
  explicit Patience(Nanoseconds deadline_ns);
  Stamp deadline;
  Stamp heartbeat;  ///< between two of them: deadline / 20, from 50 ms to 1 s
  Stamp stall;      ///< silence of this length is a stall: deadline / 2, at most 15 s
  Stamp window;     ///< from noticing a loss to the verdict: others may be lost too, and say where
                    ///< they are
  Stamp grace;      ///< from a report to the verdict: a death would explain it better
  Stamp telling;    ///< from the verdict until rank 0 itself is told at the latest
};

/// " during 'resnet50 / wfbp, measuring' while group 17 was in flight or next"; "" when nothing is
/// known.
[[nodiscard]] std::string where_text(const Status& status);

[[nodiscard]] std::string died_verdict(const std::vector<int>& ranks, const Status& where);
[[nodiscard]] std::string stalled_verdict(const std::vector<int>& ranks, Stamp silence,
                                          const Status& where);
/// `left`: ranks that had said goodbye by then, which may be the reason.
[[nodiscard]] std::string report_verdict(int rank, std::string_view message,
                                         const std::vector<int>& left);
/// `status[i]` is that of `missing[i]`.
[[nodiscard]] std::string absent_verdict(CallKind kind, const std::vector<int>& waiting,
                                         Stamp waited, const std::vector<int>& missing,
                                         const std::vector<Status>& status);
[[nodiscard]] std::string left_verdict(CallKind kind, const std::vector<int>& waiting,
                                       const std::vector<int>& left);
[[nodiscard]] std::string mismatch_verdict(int one, const Call& first, int other,
                                           const Call& second);

}  // namespace mergewise::detail
