// SPDX-License-Identifier: Apache-2.0
// The time model's recurrence, written once; predict() and predict_iteration() differ only in what
// they do with the spans.
#include "bench/plan/timeline.hpp"

#include "bench/core/error.hpp"
#include "bench/plan/next_forward.hpp"
#include "bench/plan/production.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mergewise {
namespace {

/// A plan that ends with its iteration sends by the one collective that its gradients have.
[[noreturn]] void reject_collective(const TimeModel& model, const MergePlan& plan,
                                    std::size_t index) {
  throw UnsupportedError(
      fmt::format("group {} of the '{}' plan uses {}, but gradients compressed with '{}' need {}: "
                  "only plans that reach into the next forward pass may use others",
                  index, plan.strategy, name_of(plan.groups[index].collective),
                  model.wire().compressor(), name_of(model.collective())));
}

/// End of the backward pass with all packing and compression: when unpacking may begin.
Nanoseconds end_of_production(const TimeModel& model, const MergePlan& plan,
                              Nanoseconds backward_start) {
  Nanoseconds before_send = 0;
  for (const Group& group : plan.groups) {
    before_send += model.before_send(group.begin, group.end);
  }
  return backward_start + model.ready(model.tensor_count() - 1) + before_send;
}

/// Calls sink(activity, group, begin, end, duration) for everything after the last forward pass,
/// group by group, and returns the time of the last of them.
template <typename Sink>
Nanoseconds walk(const TimeModel& model, const MergePlan& plan, Sink&& sink) {
  if (!model.has_cost(model.collective())) {
    model.require_cost(model.collective(), fmt::format("the '{}' plan", plan.strategy));
  }
  const Nanoseconds backward_start = model.accumulating() + model.forward();
  Production production(model, backward_start);
  Nanoseconds sent = 0;
  Nanoseconds unpacked = end_of_production(model, plan, backward_start);
  for (std::size_t index = 0; index < plan.groups.size(); ++index) {
    const Group& group = plan.groups[index];
    if (group.collective != model.collective()) reject_collective(model, plan, index);
    const Nanoseconds ready = production.add(group, index, sink);
    const Nanoseconds start = std::max({sent, ready, earliest_start(group, backward_start)});
    const Nanoseconds transfer = model.transfer(group.begin, group.end);
    sent = start + transfer;
    sink(Activity::kTransfer, index, start, sent, transfer);

    const Nanoseconds unpack_start = std::max(unpacked, sent);
    const Nanoseconds unpack = model.after_send(group.begin, group.end);
    unpacked = unpack_start + unpack;
    sink(Activity::kUnpack, index, unpack_start, unpacked, unpack);
  }
  return unpacked;
}

/// The passes of the micro-batches that communicate nothing. An iteration that is counted from the
/// start of a backward pass begins with that half of them.
template <typename Sink>
void record_accumulating(const TimeModel& model, bool from_backward, Sink&& sink) {
  const Nanoseconds forward = model.forward();
  const Nanoseconds backward = model.ready(model.tensor_count() - 1);
  const Nanoseconds first = from_backward ? backward : forward;
  const Activity activities[] = {from_backward ? Activity::kBackward : Activity::kForward,
                                 from_backward ? Activity::kForward : Activity::kBackward};
  for (int i = 0; i + 1 < model.micro_batches(); ++i) {
    const Nanoseconds begin = i * (forward + backward);
    const Nanoseconds end = (i + 1) * (forward + backward);
    sink(activities[0], 0, begin, begin + first, first);
    sink(activities[1], 0, begin + first, end, end - begin - first);
  }
}

/// Length of the communication spans that no compute span covers. Both lanes are in time order and
/// do not overlap themselves, so one pass does.
Nanoseconds exposed_time(const std::vector<Span>& spans) {
  Nanoseconds exposed = 0;
  std::size_t compute = 0;
  for (const Span& transfer : spans) {
    if (transfer.lane != Lane::kCommunication) continue;
    Nanoseconds seen = transfer.begin;
    while (seen < transfer.end) {
      while (compute < spans.size() &&
             (spans[compute].lane != Lane::kCompute || spans[compute].end <= seen)) {
        ++compute;
      }
      const bool covered = compute < spans.size() && spans[compute].begin < transfer.end;
      const Nanoseconds gap_end = covered ? std::max(seen, spans[compute].begin) : transfer.end;
      exposed += gap_end - seen;
      seen = covered ? spans[compute].end : transfer.end;
    }
  }
  return exposed;
}

}  // namespace

const char* name_of(Activity activity) {
  switch (activity) {
    case Activity::kForward:
      return "forward";
    case Activity::kBackward:
      return "backward";
    case Activity::kPack:
      return "pack";
    case Activity::kTransfer:
      return "transfer";
    case Activity::kUnpack:
      break;
  }
  return "unpack";
}

Timeline predict(const TimeModel& model, const MergePlan& plan) {
  Timeline timeline;
  const bool next_forward = reaches_next_forward(plan);
  std::vector<Span> unpacking;  // on the compute lane after everything else
  timeline.spans.reserve(2 * plan.groups.size() + 1);
  const auto record = [&](Activity activity, std::size_t group, Nanoseconds begin, Nanoseconds end,
                          Nanoseconds duration) {
    const bool transfer = activity == Activity::kTransfer;
    const bool unpack = activity == Activity::kUnpack;
    if (transfer) timeline.comm_busy_ns += duration;
    if (activity == Activity::kPack || unpack) timeline.compute_ns += duration;
    if (end <= begin) return;
    auto& spans = unpack && !next_forward ? unpacking : timeline.spans;
    spans.push_back(
        {transfer ? Lane::kCommunication : Lane::kCompute, activity, group, begin, end});
  };
  record_accumulating(model, next_forward, record);
  if (next_forward) {
    timeline.iteration_ns = walk_next_forward(model, plan, record);
  } else {
    const Nanoseconds start = model.accumulating();
    record(Activity::kForward, 0, start, start + model.forward(), model.forward());
    timeline.iteration_ns = walk(model, plan, record);
  }
  timeline.compute_ns +=
      model.accumulating() + model.forward() + model.ready(model.tensor_count() - 1);
  timeline.spans.insert(timeline.spans.end(), unpacking.begin(), unpacking.end());
  timeline.exposed_ns = exposed_time(timeline.spans);
  return timeline;
}

Nanoseconds predict_iteration(const TimeModel& model, const std::vector<std::size_t>& ends) {
  return predict_iteration(model, plan_from_ends("asked", ends, model.collective()));
}

Nanoseconds predict_iteration(const TimeModel& model, const MergePlan& plan) {
  const auto ignore = [](Activity, std::size_t, Nanoseconds, Nanoseconds, Nanoseconds) {};
  return reaches_next_forward(plan) ? walk_next_forward(model, plan, ignore)
                                    : walk(model, plan, ignore);
}

}  // namespace mergewise
