// SPDX-License-Identifier: Apache-2.0
// Cycle j starts at max(start of cycle j-1 + cycle, loop free) and takes what is ready by then, in
// order. Times count from the start of the backward pass.
#include "bench/strategies/horovod.hpp"

#include <algorithm>
#include <cmath>

namespace mergewise {
namespace {

constexpr Bytes kDefaultFusion = Bytes{128} << 20;
constexpr std::int64_t kDefaultCycle = 1'000'000;
constexpr double kLongestCycle = 3.6e12;  // an hour

/// The first start of a cycle, at `start` or whole cycles later, that is not before `ready`.
Nanoseconds cycle_for(Nanoseconds ready, Nanoseconds start, Nanoseconds cycle) {
  if (ready <= start) return start;
  return std::max(ready, start + std::ceil((ready - start) / cycle) * cycle);
}

Decision next_cycle(std::size_t border, Nanoseconds ready, Nanoseconds cycle_start) {
  return {.border = border,
          .merged = false,
          .left = "ready time of the next tensor",
          .right = "start of the cycle",
          .left_value = ready,
          .right_value = cycle_start,
          .unit = "ns",
          .why = "the next tensor is not ready when the cycle starts"};
}

Decision by_size(std::size_t border, Bytes together, Bytes fusion) {
  const bool fits = together <= fusion;
  return {.border = border,
          .merged = fits,
          .left = "p+q",
          .right = "fusion_bytes",
          .left_value = static_cast<double>(together),
          .right_value = static_cast<double>(fusion),
          .unit = "bytes",
          .why = fits ? "the next tensor is ready when the cycle starts, and fits"
                      : "the next tensor is ready too, but does not fit into the fusion buffer"};
}

}  // namespace

std::vector<OptionSpec> Horovod::do_options() const {
  return {{.name = "fusion_bytes",
           .kind = OptionKind::kInteger,
           .summary = "tensors are fused while they have at most this many bytes together",
           .default_value = kDefaultFusion,
           .choices = {}},
          {.name = "cycle_ns",
           .kind = OptionKind::kInteger,
           .summary = "time from the start of a cycle to that of the next",
           .default_value = kDefaultCycle,
           .minimum = 1,
           .maximum = kLongestCycle,
           .choices = {}},
          {.name = "completion",
           .kind = OptionKind::kWord,
           .summary = "what a cycle lasts for: sync, until its collectives have ended (CPU "
                      "operations); async, until they are enqueued (NCCL)",
           .default_value = std::string("sync"),
           .choices = {"sync", "async"}}};
}

MergePlan Horovod::do_plan(const Task& task) const {
  const TimeModel& model = task.model;
  const Bytes fusion = task.options.integer("fusion_bytes");
  const auto cycle = static_cast<Nanoseconds>(task.options.integer("cycle_ns"));
  const bool waits = task.options.is_word("completion", "sync");
  const std::size_t count = model.tensor_count();
  MergePlan plan{.strategy = id(), .groups = {}, .chunking = {}};
  Nanoseconds start = 0;       // of the cycle
  Nanoseconds sent = 0;        // end of the previous group
  Nanoseconds compressed = 0;  // packing and compression of the groups before the open one
  std::size_t begin = 0;       // of the open group
  const auto ready = [&](std::size_t end) {
    return model.ready(end - 1) + compressed + model.before_send(begin, end);
  };
  const auto joins = [&](std::size_t next) {
    const Nanoseconds ready_together = ready(next + 1);
    const bool in_time = ready_together <= start;
    const Bytes together = model.bytes(begin, next + 1);
    if (task.decisions != nullptr) {
      task.decisions->push_back(in_time ? by_size(next, together, fusion)
                                        : next_cycle(next, ready_together, start));
    }
    return in_time && together <= fusion;
  };
  while (begin < count) {
    start = cycle_for(ready(begin + 1), start, cycle);
    while (begin < count && ready(begin + 1) <= start) {
      std::size_t end = begin + 1;
      while (end < count && joins(end)) ++end;
      plan.groups.push_back({begin, end, model.collective(), NotBefore{start}});
      compressed += model.before_send(begin, end);
      sent = std::max(sent, start) + model.transfer(begin, end);
      begin = end;
    }
    start = std::max(start + cycle, waits ? sent : 0);
  }
  return plan;
}

}  // namespace mergewise
