// SPDX-License-Identifier: Apache-2.0
// The time model's recurrence, written once; predict() and predict_iteration() differ only in what
// they do with the spans.
#include "bench/plan/timeline.hpp"

#include "bench/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mergewise {
namespace {

/// When the group may be sent at the earliest, whatever its tensors do; from the iteration's start.
Nanoseconds earliest_start(const TimeModel& model, const MergePlan& plan, std::size_t index) {
  const Group& group = plan.groups[index];
  if (group.collective != model.collective()) {
    throw UnsupportedError(
        fmt::format("group {} of the '{}' plan uses {}, but the time model has only the cost of {}",
                    index, plan.strategy, name_of(group.collective), name_of(model.collective())));
  }
  if (std::holds_alternative<BeforeForward>(group.release)) {
    throw UnsupportedError(
        fmt::format("group {} of the '{}' plan is released before a forward pass: the timeline of "
                    "plans that reach into the next iteration is not available yet",
                    index, plan.strategy));
  }
  const auto* not_before = std::get_if<NotBefore>(&group.release);
  return not_before == nullptr ? 0 : model.forward() + not_before->after_backward_start;
}

/// End of the backward pass with all packing and compression: when unpacking may begin.
Nanoseconds end_of_production(const TimeModel& model, const MergePlan& plan) {
  Nanoseconds before_send = 0;
  for (const Group& group : plan.groups) {
    before_send += model.before_send(group.begin, group.end);
  }
  return model.forward() + model.ready(model.tensor_count() - 1) + before_send;
}

/// Calls sink(activity, group, begin, end, duration) for everything after the forward pass, group
/// by group, and returns the time of the last of them.
template <typename Sink>
Nanoseconds walk(const TimeModel& model, const MergePlan& plan, Sink&& sink) {
  Nanoseconds before_send = 0;  // sum of p + c so far
  Nanoseconds compute_end = model.forward();
  Nanoseconds sent = 0;
  Nanoseconds unpacked = end_of_production(model, plan);
  for (std::size_t index = 0; index < plan.groups.size(); ++index) {
    const Group& group = plan.groups[index];
    const Nanoseconds backward_end = model.forward() + model.ready(group.end - 1) + before_send;
    sink(Activity::kBackward, index, compute_end, backward_end, backward_end - compute_end);
    const Nanoseconds pack = model.before_send(group.begin, group.end);
    before_send += pack;
    compute_end = model.forward() + model.ready(group.end - 1) + before_send;
    sink(Activity::kPack, index, backward_end, compute_end, pack);

    const Nanoseconds start = std::max({sent, compute_end, earliest_start(model, plan, index)});
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
  std::vector<Span> unpacking;  // on the compute lane after everything else
  timeline.spans.reserve(2 * plan.groups.size() + 1);
  const auto record = [&](Activity activity, std::size_t group, Nanoseconds begin, Nanoseconds end,
                          Nanoseconds duration) {
    const bool transfer = activity == Activity::kTransfer;
    if (transfer) timeline.comm_busy_ns += duration;
    if (activity == Activity::kPack || activity == Activity::kUnpack) {
      timeline.compute_ns += duration;
    }
    if (end <= begin) return;
    auto& spans = activity == Activity::kUnpack ? unpacking : timeline.spans;
    spans.push_back(
        {transfer ? Lane::kCommunication : Lane::kCompute, activity, group, begin, end});
  };
  record(Activity::kForward, 0, 0, model.forward(), model.forward());
  timeline.iteration_ns = walk(model, plan, record);
  timeline.compute_ns += model.forward() + model.ready(model.tensor_count() - 1);
  timeline.spans.insert(timeline.spans.end(), unpacking.begin(), unpacking.end());
  timeline.exposed_ns = exposed_time(timeline.spans);
  return timeline;
}

Nanoseconds predict_iteration(const TimeModel& model, const MergePlan& plan) {
  return walk(model, plan, [](Activity, std::size_t, Nanoseconds, Nanoseconds, Nanoseconds) {});
}

}  // namespace mergewise
