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

/// Something that occupies a lane from begin to end, counted from the start of the iteration.
/// kPack stands for p + c, kUnpack for d + q + u.
struct Span {
  Lane lane;
  Activity activity;
  /// The group (an index into MergePlan::groups). For kBackward the one whose tensors it makes
  /// ready; for kForward the last that this part of the forward pass waited for. 0 for a forward
  /// pass that waits for nothing, and for passes of micro-batches that communicate nothing.
  std::size_t index;
  Nanoseconds begin;
  Nanoseconds end;
};

/// One iteration: forward pass, backward pass, and what is sent, until all has ended. Of a plan
/// with groups released before a forward pass it is the steady-state period: from the start of one
/// backward pass to the start of the next, so the forward pass comes last. Passes of micro-batches
/// that communicate nothing come first.
struct Timeline {
  std::vector<Span> spans;       ///< per lane in time order; empty spans are left out
  Nanoseconds iteration_ns = 0;  ///< time of the last activity
  Nanoseconds compute_ns = 0;    ///< of all micro-batches F + sum of b; sum of c, d, p, q, u
  Nanoseconds comm_busy_ns = 0;  ///< sum of T
  Nanoseconds exposed_ns = 0;    ///< communication outside compute spans
};

/// The timeline of a checked plan. Pure, O(L) beside one span for each chunk and pass. Throws
/// UnsupportedError naming what the profile lacks for it (a collective's cost, the number of ranks)
/// or what it compresses though the plan sends dense gradients; InputError for a plan that waits
/// for itself or has more than ten million chunks.
[[nodiscard]] Timeline predict(const TimeModel& model, const MergePlan& plan);
/// The iteration time alone: the same recurrence without the spans, and without allocation unless
/// the plan reaches into the next forward pass. Equal to predict().iteration_ns. Throws the same.
[[nodiscard]] Nanoseconds predict_iteration(const TimeModel& model, const MergePlan& plan);
/// The same of when-ready groups that end after these tensor counts, by the model's collective.
[[nodiscard]] Nanoseconds predict_iteration(const TimeModel& model,
                                            const std::vector<std::size_t>& ends);

}  // namespace mergewise
