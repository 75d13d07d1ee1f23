// SPDX-License-Identifier: Apache-2.0
#include "workloads/torch_trace.hpp"

#include "bench/core/error.hpp"
#include "bench/core/median.hpp"
#include "workloads/torch_trace_names.hpp"
#include "workloads/torch_trace_passes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace mergewise {
namespace {

using detail::PassTimes;
using detail::TraceEvents;
using detail::TraceOp;
using detail::TracePass;
using Shape = std::vector<std::int64_t>;

std::vector<Shape> shapes_of(const TraceEvents& events, const TracePass& pass) {
  std::vector<Shape> shapes;
  for (const TraceOp* gradient : pass.gradients) {
    shapes.push_back(events.inputs_of(*gradient).front());
  }
  return shapes;
}

void require_equal(const TraceEvents& events, const std::vector<TracePass>& passes,
                   const std::string& where) {
  const auto first = shapes_of(events, passes.front());
  for (std::size_t i = 1; i < passes.size(); ++i) {
    const auto other = shapes_of(events, passes[i]);
    if (other == first) continue;
    const auto differ =
        std::mismatch(first.begin(), first.end(), other.begin(), other.end()).first - first.begin();
    throw InputError(fmt::format(
        "{}: its backward passes complete different parameters (pass 1 has {}, pass {} has {}, the "
        "{}. is the first that differs), expected the same ones in the same order: record whole "
        "steps of one network (schedule() and step() of torch.profiler)",
        where, first.size(), i + 1, other.size(), differ + 1));
  }
}

struct Measured {
  std::vector<PassTimes> passes;
  std::string clock;
};

Measured measure(const TraceEvents& events, const std::vector<TracePass>& passes,
                 const std::string& where, std::vector<std::string>& notes) {
  Measured measured;
  const auto timeline = detail::device_timeline(events, where);
  if (timeline && detail::device_times(passes.front(), *timeline)) {
    for (const TracePass& pass : passes) {
      auto times = detail::device_times(pass, *timeline);
      if (!times) {
        throw InputError(where +
                         ": only some of its backward passes have kernels: record whole steps "
                         "(schedule() and step() of torch.profiler)");
      }
      measured.passes.push_back(std::move(*times));
    }
    measured.clock = fmt::format("device {} stream {}", timeline->device, timeline->stream);
    if (timeline->lost > 0) {
      notes.push_back(fmt::format(
          "{} of {} kernels and copies on the compute stream ({:.1f} % of their time) are left "
          "out: the trace lacks their launches",
          timeline->lost, timeline->lost + timeline->work.size(), 100 * timeline->lost_share));
    }
    return measured;
  }
  // Autograd runs the backward pass of a CPU in the thread that asks for it.
  if (passes.front().nodes.front()->thread != passes.front().forward.front()->thread) {
    throw InputError(where +
                     ": its backward pass ran on a device, but it has no kernels: record it with "
                     "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]");
  }
  for (const TracePass& pass : passes) measured.passes.push_back(detail::host_times(pass));
  measured.clock = "CPU";
  return measured;
}

/// What most of the pass's functions have as the first dimension of the gradient they get.
std::int64_t usual_first_size(const TraceEvents& events, const TracePass& pass) {
  std::map<std::int64_t, int> counts;
  for (const TraceOp* node : pass.nodes) {
    const auto inputs = events.inputs_of(*node);
    if (!inputs.empty() && !inputs.front().empty()) ++counts[inputs.front().front()];
  }
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == counts.end() ? 0 : most->first;
}

/// The first input of the first operation that is no parameter (an embedding's table comes first),
/// if the backward pass agrees.
std::int64_t batch_of(const TraceEvents& events, const TracePass& pass, const std::string& where,
                      std::vector<std::string>& notes) {
  const auto parameters = shapes_of(events, pass);
  const TraceOp& first = *pass.forward.front();
  const std::int64_t usual = usual_first_size(events, pass);
  for (const Shape& shape : events.inputs_of(first)) {
    if (shape.empty() || shape.front() < 1 ||
        std::find(parameters.begin(), parameters.end(), shape) != parameters.end()) {
      continue;
    }
    if (shape.front() != usual) break;
    notes.push_back(
        fmt::format("batch {} is the first dimension of what goes into the first operation ({} of "
                    "[{}]) and of most gradients; --batch says another",
                    shape.front(), events.name_of(first), fmt::join(shape, ", ")));
    return shape.front();
  }
  throw InputError(fmt::format(
      "{}: does not tell the batch size (what goes into its first operation, {}, does not begin "
      "with the size that most gradients begin with, {}): say it: --batch N",
      where, events.name_of(first), usual));
}

void add_notes(const TraceEvents& events, const TracePass& pass, std::vector<std::string>& notes) {
  if (events.collectives) {
    notes.emplace_back(
        "ranks communicated while it was recorded (NCCL, Gloo or torch.distributed): left out, but "
        "the times include its interference");
  }
  std::set<std::string> others;
  for (const TraceOp* gradient : pass.gradients) {
    const std::string& type = events.names[gradient->type];
    if (!type.empty() && type != "float") others.insert(type);
  }
  if (!others.empty()) {
    notes.push_back(fmt::format("gradients of type {} are replayed as fp32, 4 bytes an element",
                                fmt::join(others, ", ")));
  }
}

}  // namespace

ImportedModel import_torch_trace(const std::filesystem::path& file,
                                 const TorchTraceOptions& options) {
  const std::string where = file.string();
  const TraceEvents events = detail::read_trace_events(file);
  const std::vector<TracePass> passes = detail::find_passes(events, where);
  require_equal(events, passes, where);
  ImportedModel imported;
  const Measured measured = measure(events, passes, where, imported.notes);

  MeasuredIteration iteration;
  const std::string base = file.filename().string();
  iteration.name = options.name.empty() ? base.substr(0, base.find('.', 1)) : options.name;
  iteration.batch =
      options.batch > 0 ? options.batch : batch_of(events, passes.front(), where, imported.notes);
  add_notes(events, passes.front(), imported.notes);
  iteration.source = fmt::format("PyTorch profiler trace {}, {}, median of {} iteration{}{}", base,
                                 measured.clock, passes.size(), passes.size() == 1 ? "" : "s",
                                 events.collectives ? ", with communication beside it" : "");
  const auto median_of = [&](const auto& value) {
    std::vector<Nanoseconds> values;
    for (const PassTimes& times : measured.passes) values.push_back(value(times));
    return median(values);
  };
  iteration.forward_ns = median_of([](const PassTimes& times) { return times.forward; });
  const auto names = detail::parameter_names(events, passes.front());
  auto shapes = shapes_of(events, passes.front());
  for (std::size_t i = 0; i < names.size(); ++i) {
    iteration.tensors.push_back(
        {names[i].name, names[i].layer, std::move(shapes[i]),
         median_of([i](const PassTimes& times) { return times.ready[i]; })});
  }
  imported.user_model = measured_model(iteration, where);
  return imported;
}

}  // namespace mergewise
