// SPDX-License-Identifier: Apache-2.0
// The time model of plans that reach into the next forward pass; a part of the timeline, for
// timeline.cpp only.
#pragma once

#include "bench/plan/merge_plan.hpp"
#include "bench/plan/time_model.hpp"
#include "bench/plan/timeline.hpp"

#include <cstddef>
#include <functional>
#include <vector>

namespace mergewise {

/// Takes activity, index, begin, end and duration of what occupies a lane: each lane's in time
/// order. The duration is exact where end - begin is rounded.
using SpanSink = std::function<void(Activity, std::size_t, Nanoseconds, Nanoseconds, Nanoseconds)>;

/// Some of the plan's groups end during the next forward pass.
[[nodiscard]] bool reaches_next_forward(const MergePlan& plan);

/// The steady-state period of such a plan, which must be checked: from the start of one backward
/// pass to the start of the next (of the last micro-batch's, where there are several). Spans are
/// counted from the start of the period; passes of other micro-batches are left to the caller.
/// O(L), or O(L + chunks). Throws UnsupportedError for compressed gradients, a collective without
/// cost, all-gathers without a number of ranks; InputError for a group that waits for itself.
[[nodiscard]] Nanoseconds walk_next_forward(const TimeModel& model, const MergePlan& plan,
                                            const SpanSink& sink);

/// When each group of a chunked plan has arrived, given when each is ready (in ready order).
/// O(groups + chunks). Throws InputError for more than ten million chunks.
[[nodiscard]] std::vector<Nanoseconds> send_chunks(const TimeModel& model, const MergePlan& plan,
                                                   const std::vector<Nanoseconds>& ready,
                                                   const SpanSink& sink);

}  // namespace mergewise
