// SPDX-License-Identifier: Apache-2.0
#include "bench/app/workload_compute.hpp"

#include "bench/app/case_set.hpp"
#include "kernels/compute/gemm_compute.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace mergewise {
namespace {

// The layers of the real work by the tensors that they use first.
std::vector<std::size_t> layer_steps(const Workload& workload) {
  std::map<std::string, std::size_t> step_of;
  for (std::size_t i = 0; i < workload.layers.size(); ++i) {
    step_of.emplace(workload.layers[i].layer, i);
  }
  std::vector<std::size_t> steps;
  for (const WorkloadTensor& tensor : workload.tensors) {
    const auto found = step_of.find(tensor.layer);
    steps.push_back(found == step_of.end() ? 0 : found->second);
  }
  return steps;
}

// Each layer's first step is that of its last tensor in ready order.
std::vector<std::size_t> tensor_steps(const Workload& workload) {
  const TimeModel times(times_of(workload));
  const std::size_t count = times.tensor_count();
  std::vector<std::size_t> steps;
  for (const std::size_t end : times.layer_ends()) steps.resize(end, count - end);
  return steps;
}

}  // namespace

std::unique_ptr<Compute> make_compute(const Workload& workload, bool timed) {
  if (!timed) return make_gemm_compute(workload.layers, workload.backward_layers);
  const TimeModel times(times_of(workload));
  std::vector<Nanoseconds> forward;
  std::vector<Nanoseconds> backward;
  for (std::size_t i = 0; i < workload.tensors.size(); ++i) {
    forward.push_back(times.forward(i));
    backward.push_back(times.backward(i));
  }
  std::reverse(forward.begin(), forward.end());
  return make_timed_compute(std::move(forward), std::move(backward));
}

Iteration make_iteration(const Workload& workload, bool timed, int accumulation) {
  return {accumulation, timed ? tensor_steps(workload) : layer_steps(workload)};
}

void use_measured_times(Workload& workload, const Replayer::LayerTimes& times) {
  workload.times = TimesKind::kMeasured;
  workload.times_from = "real work on these ranks";
  workload.forward_ns = 0;
  for (std::size_t i = 0; i < workload.tensors.size(); ++i) {
    WorkloadTensor& tensor = workload.tensors[i];
    tensor.backward_ns = times.backward_ns[i];
    tensor.forward_ns = 0;
    for (const std::size_t layer : workload.backward_layers[i]) {
      tensor.forward_ns += times.forward_steps_ns[layer];
    }
    workload.forward_ns += tensor.forward_ns;
  }
}

}  // namespace mergewise
