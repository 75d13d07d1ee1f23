// SPDX-License-Identifier: Apache-2.0
// Totals and names of a network's shapes.
#include "workloads/model.hpp"

namespace mergewise {

const char* name_of(LayerKind kind) {
  switch (kind) {
    case LayerKind::kConv:
      return "conv";
    case LayerKind::kLinear:
      return "linear";
    case LayerKind::kNorm:
      return "norm";
    case LayerKind::kEmbedding:
      return "embedding";
    case LayerKind::kAttention:
      return "attention";
    case LayerKind::kActivation:
      return "activation";
    case LayerKind::kPool:
      return "pool";
    case LayerKind::kAdd:
      return "add";
    case LayerKind::kOther:
      break;
  }
  return "other";
}

std::int64_t TensorSpec::elements() const {
  std::int64_t product = 1;
  for (const std::int64_t size : shape) {
    product *= size;
  }
  return product;
}

std::int64_t Model::total_parameters() const {
  std::int64_t sum = 0;
  for (const TensorSpec& tensor : tensors) {
    sum += tensor.elements();
  }
  return sum;
}

std::int64_t Model::total_macs() const {
  std::int64_t sum = 0;
  for (const Layer& layer : layers) {
    sum += layer.macs;
  }
  return sum;
}

}  // namespace mergewise
