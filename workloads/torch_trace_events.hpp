// SPDX-License-Identifier: Apache-2.0
// Private to workloads: the events of a PyTorch profiler's trace that an import needs.
#pragma once

#include "bench/core/units.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mergewise::detail {

/// A span on the host; times are from the first event of the file.
struct TraceOp {
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  std::int64_t thread = 0;
  std::int64_t sequence = -1;  ///< autograd's; a node has that of the operation it differentiates
  std::uint32_t name = 0;      ///< index into TraceEvents::names
  std::uint32_t type = 0;      ///< of the first input, likewise; "" where the trace has none
  std::size_t inputs = 0;      ///< where its shapes begin in TraceEvents::shapes
  [[nodiscard]] bool contains(const TraceOp& other) const {
    return thread == other.thread && start <= other.start && other.end <= end;
  }
};

/// A call of the device's run-time library: what it launches carries its number.
struct TraceLaunch {
  std::int64_t correlation = 0;
  Nanoseconds at = 0;
};

/// A kernel, copy or fill on a device.
struct TraceWork {
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  std::int64_t correlation = 0;
  std::int64_t device = 0;
  std::int64_t stream = 0;
  bool kernel = false;
  bool collective = false;  ///< NCCL's
};

struct TraceEvents {
  std::vector<std::string> names;  ///< [0] is ""
  std::vector<TraceOp> forward;    ///< operations of the forward pass that autograd saw
  std::vector<TraceOp> nodes;      ///< autograd's functions in the backward pass
  std::vector<TraceOp> gradients;  ///< AccumulateGrad: a parameter's gradient is complete
  std::vector<TraceOp> modules;    ///< calls of torch modules (with_stack)
  std::vector<TraceLaunch> launches;
  std::vector<TraceWork> work;
  std::vector<std::int64_t> shapes;  ///< of all operations: how many, then rank and sizes of each
  std::size_t complete_events = 0;   ///< all that have a duration
  bool collectives = false;          ///< ranks communicated meanwhile

  [[nodiscard]] const std::string& name_of(const TraceOp& op) const { return names[op.name]; }
  [[nodiscard]] std::vector<std::vector<std::int64_t>> inputs_of(const TraceOp& op) const;
};

/// Reads the file as a stream; each list is sorted by start (launches by number). Throws
/// InputError: unreadable, compressed, cut off, not JSON, not a trace.
[[nodiscard]] TraceEvents read_trace_events(const std::filesystem::path& path);

}  // namespace mergewise::detail
