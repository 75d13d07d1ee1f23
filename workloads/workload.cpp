// SPDX-License-Identifier: Apache-2.0
// Layer times by a roofline, and which tensor's readiness each layer's backward work ends with.
#include "workloads/workload.hpp"

#include "bench/core/error.hpp"
#include "workloads/backward_layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace mergewise {
namespace {

struct LayerTimes {
  std::vector<Nanoseconds> forward;  // by layer
  std::vector<Nanoseconds> backward;
  [[nodiscard]] Nanoseconds total() const {
    Nanoseconds sum = 0;
    for (std::size_t layer = 0; layer < forward.size(); ++layer) {
      sum += forward[layer] + backward[layer];
    }
    return sum;
  }
};

/// Williams, Waterman and Patterson, "Roofline" (CACM 2009): a pass is bound by its arithmetic or
/// by its memory traffic, here each at the achieved part of its peak.
Nanoseconds pass_time(double flops, Bytes bytes, const Accelerator& accelerator) {
  const double arithmetic = flops / (accelerator.peak_flops * accelerator.flops_fraction);
  const double memory = static_cast<double>(bytes) /
                        (accelerator.memory_bytes_per_s * accelerator.bandwidth_fraction);
  return accelerator.layer_overhead_ns + 1e9 * std::max(arithmetic, memory);
}

LayerTimes roofline(const std::vector<LayerWork>& works, const Accelerator& accelerator) {
  LayerTimes times;
  for (const LayerWork& work : works) {
    times.forward.push_back(pass_time(work.forward_flops(), work.forward_bytes, accelerator));
    times.backward.push_back(pass_time(work.backward_flops(), work.backward_bytes, accelerator));
  }
  return times;
}

struct Scale {
  double factor = 1;
  std::string note;
};

/// What the roofline must be multiplied by for the published training to take its published time.
/// That training's input may have another size than `model`: then the same factor holds for both.
Scale scale_to_published(const Model& model, std::int64_t batch, const Accelerator& accelerator) {
  for (const PublishedThroughput& published : accelerator.throughput) {
    if (published.model != model.name) {
      continue;
    }
    const Model reference = build_model(published.model, published.arguments);
    const Nanoseconds modelled = roofline(layer_work(reference, batch), accelerator).total();
    const Nanoseconds measured = 1e9 * static_cast<double>(batch) / published.samples_per_s;
    std::string note = fmt::format(", scaled to {} samples/s", published.samples_per_s);
    if (reference.input_shape != model.input_shape) {
      note += fmt::format(" at inputs of {}", fmt::join(reference.input_shape, " x "));
    }
    return {measured / modelled, std::move(note)};
  }
  return {1, ", not scaled"};
}

}  // namespace

const char* name_of(TimesKind kind) {
  switch (kind) {
    case TimesKind::kModelled:
      return "modelled";
    case TimesKind::kMeasured:
      return "measured";
    case TimesKind::kGiven:
      break;
  }
  return "given";
}

Workload make_workload(const Model& model, std::int64_t batch, const Accelerator& accelerator) {
  MERGEWISE_CHECK(!model.ready_order.empty() && model.ready_order.size() == model.tensors.size(),
                  model.name + ": a workload needs all tensors in ready order");
  Workload workload;
  workload.name = model.name;
  workload.batch = batch;
  workload.layers = layer_work(model, batch);
  workload.backward_layers = assign_backward_layers(model);
  const LayerTimes times = roofline(workload.layers, accelerator);
  const Scale scale = scale_to_published(model, batch, accelerator);
  workload.times = TimesKind::kModelled;
  workload.times_from =
      fmt::format("roofline {} ({}){}", accelerator.name, accelerator.arithmetic, scale.note);

  std::vector<const std::string*> owner(model.tensors.size(), nullptr);
  for (const Layer& layer : model.layers) {
    for (const std::size_t tensor : layer.tensors) {
      owner[tensor] = &layer.name;
    }
  }
  for (std::size_t ready = 0; ready < model.ready_order.size(); ++ready) {
    const std::size_t index = model.ready_order[ready];
    MERGEWISE_CHECK(owner[index] != nullptr, model.tensors[index].name + " has no layer");
    WorkloadTensor tensor;
    tensor.name = model.tensors[index].name;
    tensor.layer = *owner[index];
    tensor.shape = model.tensors[index].shape;
    tensor.bytes = 4 * model.tensors[index].elements();
    for (const std::size_t layer : workload.backward_layers[ready]) {
      tensor.forward_ns += scale.factor * times.forward[layer];
      tensor.backward_ns += scale.factor * times.backward[layer];
    }
    workload.forward_ns += tensor.forward_ns;
    workload.tensors.push_back(std::move(tensor));
  }
  return workload;
}

}  // namespace mergewise
