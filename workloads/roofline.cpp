// SPDX-License-Identifier: Apache-2.0
// The roofline, with achieved rates of each kind of layer.
#include "workloads/roofline.hpp"

#include <algorithm>
#include <string>

namespace mergewise {
namespace {

/// A 3x3 or 5x5 window that moves by one pixel: what fast convolution algorithms exist for.
bool is_square_convolution(const Model& model, const Layer& layer) {
  if (layer.kind != LayerKind::kConv || layer.stride != 1 || layer.tensors.empty()) {
    return false;
  }
  const std::vector<std::int64_t>& weight = model.tensors[layer.tensors.front()].shape;
  return weight.size() == 4 && weight[2] == weight[3] && (weight[2] == 3 || weight[2] == 5);
}

AchievedFractions achieved_by(const Model& model, const Layer& layer,
                              const Accelerator& accelerator) {
  if (is_square_convolution(model, layer)) {
    const auto square = accelerator.achieved.find(kSquareConvolution);
    if (square != accelerator.achieved.end()) {
      return square->second;
    }
  }
  const auto own = accelerator.achieved.find(name_of(layer.kind));
  return own != accelerator.achieved.end()
             ? own->second
             : AchievedFractions{accelerator.flops_fraction, accelerator.bandwidth_fraction};
}

/// Williams, Waterman and Patterson, "Roofline" (CACM 2009): a pass is bound by its arithmetic or
/// by its memory traffic, here each at the achieved part of its peak.
Nanoseconds pass_time(double flops, Bytes bytes, const AchievedFractions& achieved,
                      const Accelerator& accelerator) {
  const double arithmetic = flops / (accelerator.peak_flops * achieved.flops);
  const double memory =
      static_cast<double>(bytes) / (accelerator.memory_bytes_per_s * achieved.bandwidth);
  return accelerator.layer_overhead_ns + 1e9 * std::max(arithmetic, memory);
}

}  // namespace

LayerTimes roofline(const Model& model, const std::vector<LayerWork>& works,
                    const Accelerator& accelerator) {
  LayerTimes times;
  for (std::size_t index = 0; index < works.size(); ++index) {
    const LayerWork& work = works[index];
    const AchievedFractions achieved = achieved_by(model, model.layers[index], accelerator);
    times.forward.push_back(
        pass_time(work.forward_flops(), work.forward_bytes, achieved, accelerator));
    times.backward.push_back(
        pass_time(work.backward_flops(), work.backward_bytes, achieved, accelerator));
  }
  return times;
}

Nanoseconds compute_time(const PublishedThroughput& published, const Model& model,
                         const Accelerator& accelerator) {
  const LayerTimes times = roofline(model, layer_work(model, published.batch), accelerator);
  Nanoseconds sum = 0;
  for (std::size_t layer = 0; layer < model.layers.size(); ++layer) {
    if (published.without.empty() || !model.layers[layer].name.starts_with(published.without)) {
      sum += times.forward[layer] + times.backward[layer];
    }
  }
  return sum;
}

Nanoseconds update_time(const PublishedThroughput& published, const Model& model,
                        const Accelerator& accelerator) {
  const double bytes = 4.0 * static_cast<double>(model.total_parameters());
  return 1e9 * published.update_passes * bytes /
         (accelerator.memory_bytes_per_s * accelerator.bandwidth_fraction);
}

double modelled_throughput(const PublishedThroughput& published, const Accelerator& accelerator) {
  const Model model = build_model(published.model, published.arguments);
  return 1e9 * static_cast<double>(published.batch) /
         (compute_time(published, model, accelerator) + update_time(published, model, accelerator));
}

}  // namespace mergewise
