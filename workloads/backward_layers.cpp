// SPDX-License-Identifier: Apache-2.0
#include "workloads/backward_layers.hpp"

#include <algorithm>
#include <utility>

namespace mergewise {

std::vector<std::vector<std::size_t>> assign_backward_layers(const Model& model) {
  std::vector<std::size_t> position(model.tensors.size());
  for (std::size_t ready = 0; ready < model.ready_order.size(); ++ready) {
    position[model.ready_order[ready]] = ready;
  }
  std::vector<std::vector<std::size_t>> assigned(model.ready_order.size());
  std::vector<std::size_t> pending;  // layers without tensors, until the next one that has some
  for (std::size_t layer = model.layers.size(); layer-- > 0;) {
    pending.push_back(layer);
    const std::vector<std::size_t>& tensors = model.layers[layer].tensors;
    if (tensors.empty()) {
      continue;
    }
    std::size_t first = assigned.size();
    for (const std::size_t tensor : tensors) {
      first = std::min(first, position[tensor]);
    }
    // A user's order may give one tensor the work of several layers.
    std::vector<std::size_t>& ends = assigned[first];
    ends.insert(ends.end(), pending.begin(), pending.end());
    pending.clear();
  }
  assigned.back().insert(assigned.back().end(), pending.begin(), pending.end());
  return assigned;
}

}  // namespace mergewise
