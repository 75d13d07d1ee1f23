// SPDX-License-Identifier: Apache-2.0
#include "workloads/torch_trace_passes.hpp"

#include "bench/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace mergewise::detail {
namespace {

constexpr const char* kRecipe =
    "; record whole training steps with torch.profiler.profile(record_shapes=True) and "
    "export_chrome_trace()";

void require_gradients(const TraceEvents& events, const std::string& where) {
  if (events.complete_events == 0) {
    throw InputError(where + ": holds no events with a duration" + kRecipe);
  }
  if (events.gradients.empty()) {
    throw InputError(where +
                     (events.nodes.empty()
                          ? ": has no backward pass"
                          : ": no gradient was accumulated (AccumulateGrad) in its "
                            "backward passes: are all parameters frozen, or does the "
                            "training use torch.autograd.grad()?") +
                     kRecipe);
  }
  const bool shapes = std::any_of(events.gradients.begin(), events.gradients.end(),
                                  [&](const TraceOp& op) { return events.shapes[op.inputs] > 0; });
  if (!shapes) {
    throw InputError(where +
                     ": has no shapes (\"Input Dims\"): record it with record_shapes=True; a "
                     "PyTorch that was built without Kineto, as some distributions ship, writes "
                     "none at all");
  }
  if (events.nodes.empty()) {
    throw InputError(where + ": no function of its backward passes has a sequence number" +
                     kRecipe);
  }
}

/// Its gradients of a checkpoint's inputs are accumulated like those of parameters.
void refuse_reentrant_checkpoints(const TraceEvents& events, const std::string& where) {
  for (const TraceOp& node : events.nodes) {
    if (events.name_of(node).starts_with("CheckpointFunction")) {
      throw InputError(where +
                       ": has checkpoints that run a backward pass of their own, in which their "
                       "inputs look like parameters: record it with use_reentrant=False in "
                       "torch.utils.checkpoint.checkpoint()");
    }
  }
}

/// An undefined gradient has no type and is not kept.
bool is_defined(const TraceEvents& events, const TraceOp& gradient) {
  return events.shapes[gradient.inputs] > 0 &&
         (events.shapes[gradient.inputs + 1] > 0 || !events.names[gradient.type].empty());
}

/// Functions that run inside another one (checkpointing) have sequence numbers of their own.
std::vector<TracePass> split(const TraceEvents& events) {
  std::vector<TracePass> passes;
  std::int64_t last = -1;
  for (const TraceOp& node : events.nodes) {
    const bool nested = !passes.empty() && node.start < passes.back().end;
    if (passes.empty() || (!nested && node.sequence > last)) {
      passes.emplace_back();
      passes.back().start = node.start;
      passes.back().highest_sequence = node.sequence;
    }
    TracePass& pass = passes.back();
    pass.nodes.push_back(&node);
    pass.end = std::max(pass.end, node.end);
    if (!nested) pass.lowest_sequence = last = node.sequence;
  }
  return passes;
}

void add_gradients(const TraceEvents& events, std::vector<TracePass>& passes) {
  for (const TraceOp& gradient : events.gradients) {
    const auto after =
        std::upper_bound(passes.begin(), passes.end(), gradient.start,
                         [](Nanoseconds at, const TracePass& pass) { return at < pass.start; });
    if (after == passes.begin() || !is_defined(events, gradient)) continue;
    TracePass& pass = *std::prev(after);
    pass.gradients.push_back(&gradient);
    pass.end = std::max(pass.end, gradient.end);
  }
  for (TracePass& pass : passes) {
    std::stable_sort(pass.gradients.begin(), pass.gradients.end(),
                     [](const TraceOp* a, const TraceOp* b) { return a->end < b->end; });
  }
}

/// The operations between the end of the pass before and this one that made its functions. An
/// operation carries the number that the next function will get, so that those of loading data
/// carry the lowest one too: the last operation with it made the function.
void find_forward(const TraceEvents& events, Nanoseconds after, TracePass& pass) {
  const auto begin =
      std::lower_bound(events.forward.begin(), events.forward.end(), after,
                       [](const TraceOp& op, Nanoseconds at) { return op.start < at; });
  const TraceOp* loss = nullptr;
  std::vector<const TraceOp*> all;
  for (auto op = begin; op != events.forward.end() && op->start < pass.start; ++op) {
    if (op->sequence < pass.lowest_sequence || op->sequence > pass.highest_sequence) continue;
    all.push_back(&*op);
    if (loss == nullptr || op->sequence >= loss->sequence) loss = &*op;
  }
  const TraceOp* first = nullptr;
  for (const TraceOp* op : all) {
    if (op->thread == loss->thread && (first == nullptr || op->sequence <= first->sequence)) {
      first = op;
    }
  }
  Nanoseconds start = 0;
  for (const TraceOp* op : all) {
    if (op->contains(*first)) {
      start = op->start;
      break;
    }
  }
  for (const TraceOp* op : all) {
    if (op->thread == loss->thread && op->start >= start) pass.forward.push_back(op);
  }
}

std::pair<Nanoseconds, Nanoseconds> host_forward(const TracePass& pass) {
  Nanoseconds end = pass.forward.front()->end;
  for (const TraceOp* op : pass.forward) end = std::max(end, op->end);
  return {pass.forward.front()->start, end};
}

}  // namespace

std::vector<TracePass> find_passes(const TraceEvents& events, const std::string& where) {
  require_gradients(events, where);
  refuse_reentrant_checkpoints(events, where);
  std::vector<TracePass> passes = split(events);
  add_gradients(events, passes);
  Nanoseconds before = -1e18;
  for (TracePass& pass : passes) {
    find_forward(events, before, pass);
    before = pass.end;
  }
  std::erase_if(passes, [](const TracePass& pass) { return pass.gradients.empty(); });
  if (passes.empty()) {
    throw InputError(where + ": no backward pass completes a gradient" + kRecipe);
  }
  for (std::size_t i = 0; i < passes.size(); ++i) {
    if (passes[i].forward.empty()) {
      throw InputError(where + ": the forward pass of its backward pass " + std::to_string(i + 1) +
                       " is not in it" + kRecipe);
    }
  }
  return passes;
}

const TraceOp* maker_of(const TracePass& pass, std::int64_t sequence) {
  const TraceOp* maker = nullptr;
  for (const TraceOp* op : pass.forward) {
    if (op->sequence == sequence) maker = op;
  }
  return maker;
}

namespace {

constexpr double kMostLost = 0.05;

/// The host's time at which it was launched.
std::optional<Nanoseconds> launch_of(const TraceEvents& events, const TraceWork& work) {
  const auto launch = std::lower_bound(
      events.launches.begin(), events.launches.end(), work.correlation,
      [](const TraceLaunch& a, std::int64_t correlation) { return a.correlation < correlation; });
  const bool found = work.correlation >= 0 && launch != events.launches.end() &&
                     launch->correlation == work.correlation;
  return found ? std::optional(launch->at) : std::nullopt;
}

/// A stream works in the order of launches: what lies before the first known one was launched
/// before the recording.
void add_work(const TraceEvents& events, DeviceTimeline& timeline) {
  Nanoseconds kept = 0;
  Nanoseconds lost = 0;
  for (const TraceWork& work : events.work) {
    if (work.device != timeline.device || work.stream != timeline.stream || work.collective) {
      continue;
    }
    if (const auto launched = launch_of(events, work)) {
      timeline.work.push_back({*launched, work.start, work.end});
      kept += work.end - work.start;
    } else if (!timeline.work.empty()) {
      ++timeline.lost;
      lost += work.end - work.start;
    }
  }
  timeline.lost_share = lost > 0 ? lost / (kept + lost) : 0;
}

}  // namespace

std::optional<DeviceTimeline> device_timeline(const TraceEvents& events, const std::string& where) {
  std::map<std::pair<std::int64_t, std::int64_t>, Nanoseconds> kernel_time;
  for (const TraceWork& work : events.work) {
    if (work.kernel && !work.collective) {
      kernel_time[{work.device, work.stream}] += work.end - work.start;
    }
  }
  if (kernel_time.empty()) return std::nullopt;
  const auto busiest =
      std::max_element(kernel_time.begin(), kernel_time.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  DeviceTimeline timeline;
  std::tie(timeline.device, timeline.stream) = busiest->first;
  add_work(events, timeline);
  if (timeline.work.empty()) {
    throw InputError(where +
                     ": has kernels but not their launches (cuda_runtime events with the same "
                     "\"correlation\"): record it with both activities, CPU and CUDA");
  }
  if (timeline.lost_share > kMostLost) {
    throw InputError(fmt::format(
        "{}: lacks the launches (cuda_runtime events with the same \"correlation\") of {} of the "
        "{} kernels and copies of its compute stream, {:.1f} % of their time, expected at most "
        "{:.0f} %: record fewer steps (active=...), so that the profiler drops nothing",
        where, timeline.lost, timeline.lost + timeline.work.size(), 100 * timeline.lost_share,
        100 * kMostLost));
  }
  std::stable_sort(timeline.work.begin(), timeline.work.end(),
                   [](const auto& a, const auto& b) { return a.launched < b.launched; });
  return timeline;
}

PassTimes host_times(const TracePass& pass) {
  const auto [start, end] = host_forward(pass);
  PassTimes times{end - start, {}};
  for (const TraceOp* gradient : pass.gradients) times.ready.push_back(gradient->end - pass.start);
  return times;
}

std::optional<PassTimes> device_times(const TracePass& pass, const DeviceTimeline& timeline) {
  const auto launched_from = [&](Nanoseconds at) {
    return std::lower_bound(
        timeline.work.begin(), timeline.work.end(), at,
        [](const auto& work, Nanoseconds when) { return work.launched < when; });
  };
  const auto [forward_start, forward_end] = host_forward(pass);
  const auto first = launched_from(forward_start);
  const auto first_backward = launched_from(pass.start);
  if (first == timeline.work.end() || first->launched > forward_end ||
      first_backward == timeline.work.end() || first_backward->launched > pass.end) {
    return std::nullopt;
  }
  PassTimes times;
  for (auto work = first; work != timeline.work.end() && work->launched <= forward_end; ++work) {
    times.forward = std::max(times.forward, work->end - first->start);
  }
  auto work = first_backward;
  Nanoseconds ready = 0;
  for (const TraceOp* gradient : pass.gradients) {
    for (; work != timeline.work.end() && work->launched <= gradient->end; ++work) {
      ready = std::max(ready, work->end - first_backward->start);
    }
    times.ready.push_back(ready);
  }
  return times;
}

}  // namespace mergewise::detail
