// SPDX-License-Identifier: Apache-2.0
// The timeline: the predicted spans of one iteration under a plan. The only implementation of the
// time model (docs/time-model.md).
#pragma once

#include "bench/plan/merge_plan.hpp"
#include "bench/plan/time_model.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace mergewise {

enum class Lane { kCompute, kCommunication };

enum class Activity { kForward, kBackward, kPack, kTransfer, kUnpack };
[[nodiscard]] const char* name_of(
    Activity activity);  ///< "forward", "backward", "pack", "transfer", "unpack"

/// Something that occupies a lane from begin to end, counted from the start of the iteration
/// (forward included). kPack stands for p + c, kUnpack for d + q + u.
struct Span {
  Lane lane;
  Activity activity;
  std::size_t index;  ///< the group, or for kBackward the group whose tensors it makes ready; 0 for
                      ///< kForward
  Nanoseconds begin;
  Nanoseconds end;
};

struct Timeline {
  std::vector<Span> spans;       ///< per lane in time order; empty spans are left out
  Nanoseconds iteration_ns = 0;  ///< time of the last activity
  Nanoseconds compute_ns = 0;    ///< F + sum of b, c, d, p, q, u
  Nanoseconds comm_busy_ns = 0;  ///< sum of T
  Nanoseconds exposed_ns = 0;    ///< communication outside compute spans
};

/// The timeline of a checked plan. Pure, O(L).
[[nodiscard]] Timeline predict(const TimeModel& model, const MergePlan& plan);
/// The iteration time alone: the same recurrence without the spans, no allocation. Equal to
/// predict().iteration_ns.
[[nodiscard]] Nanoseconds predict_iteration(const TimeModel& model, const MergePlan& plan);

}  // namespace mergewise
