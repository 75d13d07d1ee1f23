// SPDX-License-Identifier: Apache-2.0
// Writes a user's model file, one line a tensor and a layer.
#include "workloads/workload.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace mergewise {
namespace {

// JSON's spelling of a text is YAML's too, whatever is in it.
std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string list_of(const std::vector<std::int64_t>& sizes) {
  return fmt::format("[{}]", fmt::join(sizes, ", "));
}

std::string names_of(const Model& model, const std::vector<std::size_t>& tensors) {
  std::string names;
  for (const std::size_t index : tensors) {
    names += (names.empty() ? "" : ", ") + quoted(model.tensors[index].name);
  }
  return "[" + names + "]";
}

std::string head(const UserModel& user_model) {
  const Workload& workload = user_model.workload;
  std::string text = fmt::format("schema: mergewise/model/1\nname: {}\nbatch: {}\n",
                                 quoted(workload.name), workload.batch);
  text += fmt::format("times: {}\nsource: {}\nforward_ns: {}\n", name_of(workload.times),
                      quoted(workload.times_from), workload.forward_ns);
  return text;
}

std::string tensor_line(const WorkloadTensor& tensor) {
  return fmt::format("  - {{name: {}, layer: {}, shape: {}, forward_ns: {}, backward_ns: {}}}\n",
                     quoted(tensor.name), quoted(tensor.layer), list_of(tensor.shape),
                     tensor.forward_ns, tensor.backward_ns);
}

std::string product_text(const Gemm& gemm) {
  std::string text = fmt::format("{{m: {}, n: {}, k: {}", gemm.m, gemm.n, gemm.k);
  if (gemm.count != 1) text += fmt::format(", count: {}", gemm.count);
  if (gemm.batch_in_count) text += ", batch_in_count: true";
  return text + "}";
}

std::string layer_line(const Model& model, const Layer& layer) {
  std::string text =
      fmt::format("  - {{name: {}, kind: {}", quoted(layer.name), name_of(layer.kind));
  if (!layer.tensors.empty()) text += ", tensors: " + names_of(model, layer.tensors);
  if (!layer.shared.empty()) text += ", shared: " + names_of(model, layer.shared);
  text += fmt::format(", output: {}, inputs: {}, activations: {}", list_of(layer.output),
                      layer.inputs, layer.activations);
  if (!layer.gemms.empty()) {
    std::string products;
    for (const Gemm& gemm : layer.gemms) {
      products += (products.empty() ? "" : ", ") + product_text(gemm);
    }
    text += ", products: [" + products + "]";
  }
  if (layer.first) text += ", first: true";
  return text + fmt::format(", macs: {}, parameter_bytes: {}, activation_bytes: {}}}\n", layer.macs,
                            4 * model.parameters(layer), 4 * layer.outputs());
}

}  // namespace

std::string user_model_yaml(const UserModel& user_model) {
  const Model& model = user_model.model;
  std::string text = head(user_model);
  text += "\n# In the order in which the gradients become ready.\ntensors:\n";
  for (const WorkloadTensor& tensor : user_model.workload.tensors) text += tensor_line(tensor);
  if (model.layers.empty()) return text;
  text += fmt::format("\n# One sample: {} multiply-accumulates, {} parameters.\ninput_shape: {}\n",
                      model.total_macs(), model.total_parameters(), list_of(model.input_shape));
  text += "\n# In forward order.\nlayers:\n";
  for (const Layer& layer : model.layers) text += layer_line(model, layer);
  return text;
}

}  // namespace mergewise
