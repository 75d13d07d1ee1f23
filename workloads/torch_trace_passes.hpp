// SPDX-License-Identifier: Apache-2.0
// Private to workloads: the iterations of a PyTorch profiler's trace, and when their gradients were
// ready. torch_trace.hpp defines the terms.
#pragma once

#include "workloads/torch_trace_events.hpp"

#include <optional>
#include <string>
#include <vector>

namespace mergewise::detail {

/// A backward pass that completes gradients, with its forward pass; points into the TraceEvents.
struct TracePass {
  Nanoseconds start = 0;  ///< of the backward pass
  Nanoseconds end = 0;
  std::vector<const TraceOp*> nodes;      ///< by start
  std::vector<const TraceOp*> gradients;  ///< by end
  std::int64_t lowest_sequence = 0;
  std::int64_t highest_sequence = 0;
  std::vector<const TraceOp*> forward;  ///< by start; empty: not in the trace
};

/// Throws InputError "WHERE: ..." where there is none, or where shapes are missing.
[[nodiscard]] std::vector<TracePass> find_passes(const TraceEvents& events,
                                                 const std::string& where);

/// The forward operation that made an autograd function, the innermost one that ran in it.
[[nodiscard]] const TraceOp* maker_of(const TracePass& pass, std::int64_t sequence);

struct PassTimes {
  Nanoseconds forward = 0;
  std::vector<Nanoseconds> ready;  ///< of pass.gradients, from the start of the backward pass
};

/// What a device did, by the host's time of the launch.
struct DeviceTimeline {
  struct Work {
    Nanoseconds launched = 0;
    Nanoseconds start = 0;
    Nanoseconds end = 0;
  };
  std::int64_t device = 0;
  std::int64_t stream = 0;
  std::vector<Work> work;  ///< of the compute stream, by launch
  /// Left out, since the trace lacks its launch; work before `work` was launched before the
  /// recording, and does not count.
  std::size_t lost = 0;
  double lost_share = 0;  ///< of the time of both
};

/// Nothing where the trace has no work of a device. Throws InputError where it lacks all launches,
/// or those of more than a twentieth of the work, by time.
[[nodiscard]] std::optional<DeviceTimeline> device_timeline(const TraceEvents& events,
                                                            const std::string& where);

[[nodiscard]] PassTimes host_times(const TracePass& pass);
/// Nothing where the pass launched no work.
[[nodiscard]] std::optional<PassTimes> device_times(const TracePass& pass,
                                                    const DeviceTimeline& timeline);

}  // namespace mergewise::detail
