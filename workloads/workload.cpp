// SPDX-License-Identifier: Apache-2.0
// Layer times by a roofline, and which tensor's readiness each layer's backward work ends with.
#include "workloads/workload.hpp"

#include "bench/core/error.hpp"
#include "workloads/backward_layers.hpp"
#include "workloads/roofline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace mergewise {
namespace {

struct Scale {
  double factor = 1;
  std::string note;
};

/// What a published training was that a workload scaled to it is not, for a reader of results.
std::string scale_note(const PublishedThroughput& published, const Model& reference,
                       const Model& model, std::int64_t batch) {
  std::string note = fmt::format(", scaled to {} samples/s", published.samples_per_s);
  if (!published.without.empty()) {
    note += " without " + published.without;
  }
  if (reference.input_shape != model.input_shape) {
    note += fmt::format(" at batch {} and inputs of {}", published.batch,
                        fmt::join(reference.input_shape, " x "));
  } else if (published.batch != batch) {
    note += fmt::format(" at batch {}", published.batch);
  }
  return note;
}

/// What the roofline must be multiplied by for the published training to take its published time,
/// with its own input and batch: an overhead is the same for any batch, so the factor is, too.
Scale scale_to_published(const Model& model, std::int64_t batch, const Accelerator& accelerator) {
  const PublishedThroughput* published = nullptr;
  Model reference;
  std::pair<bool, double> distance;  // another input?, ratio of the batches
  for (const PublishedThroughput& candidate : accelerator.throughput) {
    if (candidate.model != model.name || candidate.compare_only) {
      continue;
    }
    Model built = build_model(candidate.model, candidate.arguments);
    const auto [less, more] = std::minmax(candidate.batch, batch);
    const std::pair own(built.input_shape != model.input_shape,
                        static_cast<double>(more) / static_cast<double>(less));
    if (published == nullptr || own < distance) {
      published = &candidate;
      reference = std::move(built);
      distance = own;
    }
  }
  if (published == nullptr) {
    return {1, ", not scaled"};
  }
  const Nanoseconds iteration =
      1e9 * static_cast<double>(published->batch) / published->samples_per_s;
  return {(iteration - update_time(*published, reference, accelerator)) /
              compute_time(*published, reference, accelerator),
          scale_note(*published, reference, model, batch)};
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

Nanoseconds Workload::backward_ns() const {
  Nanoseconds sum = 0;
  for (const WorkloadTensor& tensor : tensors) {
    sum += tensor.backward_ns;
  }
  return sum;
}

Workload make_workload(const Model& model, std::int64_t batch, const Accelerator& accelerator) {
  MERGEWISE_CHECK(!model.ready_order.empty() && model.ready_order.size() == model.tensors.size(),
                  model.name + ": a workload needs all tensors in ready order");
  Workload workload;
  workload.name = model.name;
  workload.batch = batch;
  workload.layers = layer_work(model, batch);
  workload.backward_layers = assign_backward_layers(model);
  const LayerTimes times = roofline(model, workload.layers, accelerator);
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
