// SPDX-License-Identifier: Apache-2.0
// Totals and names of a network's shapes.
#include "workloads/model.hpp"

namespace mergewise {
namespace {

std::int64_t product(const std::vector<std::int64_t>& sizes) {
  std::int64_t product = 1;
  for (const std::int64_t size : sizes) {
    product *= size;
  }
  return product;
}

}  // namespace

const std::vector<std::string>& layer_kind_names() {
  static const std::vector<std::string> kNames{"conv",      "linear",     "norm", "embedding",
                                               "attention", "activation", "pool", "add",
                                               "concat",    "other"};
  return kNames;
}

const char* name_of(LayerKind kind) {
  return layer_kind_names().at(static_cast<std::size_t>(kind)).c_str();
}

std::int64_t TensorSpec::elements() const { return product(shape); }

std::int64_t Layer::outputs() const { return product(output); }

std::int64_t Model::parameters(const Layer& layer) const {
  std::int64_t sum = 0;
  for (const std::size_t index : layer.tensors) {
    sum += tensors[index].elements();
  }
  return sum;
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
