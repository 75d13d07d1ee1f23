// SPDX-License-Identifier: Apache-2.0
#include "bench/app/describe.hpp"

#include "bench/app/table.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <numeric>

namespace mergewise {
namespace {

constexpr Bytes kFloatBytes = 4;

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

Bytes parameter_bytes(const Model& model, const Layer& layer) {
  return kFloatBytes * model.parameters(layer);
}

Bytes activation_bytes(const Layer& layer) { return kFloatBytes * layer.outputs(); }

Bytes total_activation_bytes(const Model& model) {
  return std::accumulate(
      model.layers.begin(), model.layers.end(), Bytes{0},
      [](Bytes sum, const Layer& layer) { return sum + activation_bytes(layer); });
}

// "weight" in the row of its layer, else the full name.
std::string short_name(const std::string& tensor, const std::string& layer) {
  const bool inside = tensor.size() > layer.size() + 1 &&
                      tensor.compare(0, layer.size(), layer) == 0 && tensor[layer.size()] == '.';
  return inside ? tensor.substr(layer.size() + 1) : tensor;
}

void add_layer_rows(const Model& model, const Layer& layer,
                    std::vector<std::vector<std::string>>& rows) {
  std::vector<std::string> tensors;
  for (const std::size_t index : layer.tensors) {
    const TensorSpec& tensor = model.tensors[index];
    tensors.push_back(short_name(tensor.name, layer.name) + " " + shape_text(tensor.shape));
  }
  for (const std::size_t index : layer.shared) {
    tensors.push_back("shared: " + model.tensors[index].name);
  }
  rows.push_back({layer.name, name_of(layer.kind), tensors.empty() ? "" : tensors.front(),
                  shape_text(layer.output), fmt::format("{}", layer.macs),
                  fmt::format("{}", parameter_bytes(model, layer)),
                  fmt::format("{}", activation_bytes(layer))});
  for (std::size_t i = 1; i < tensors.size(); ++i) {
    rows.push_back({"", "", tensors[i], "", "", "", ""});
  }
}

std::string layer_table(const Model& model) {
  std::vector<std::vector<std::string>> rows;
  for (const Layer& layer : model.layers) add_layer_rows(model, layer, rows);
  rows.push_back({"total", "", "", "", fmt::format("{}", model.total_macs()),
                  fmt::format("{}", kFloatBytes * model.total_parameters()),
                  fmt::format("{}", total_activation_bytes(model))});
  return format_table(
      {"layer", "kind", "tensors", "output", "MACs", "parameter bytes", "activation bytes"}, rows,
      4);
}

std::string tensor_table(const Workload& workload) {
  std::vector<std::vector<std::string>> rows;
  Nanoseconds ready = 0;
  for (const WorkloadTensor& tensor : workload.tensors) {
    ready += tensor.backward_ns;
    rows.push_back({tensor.name, tensor.layer, shape_text(tensor.shape),
                    fmt::format("{}", tensor.bytes), human_time(tensor.backward_ns),
                    human_time(ready)});
  }
  return format_table({"tensor", "layer", "shape", "bytes", "backward", "ready after"}, rows, 3);
}

nlohmann::json names_of(const Model& model, const std::vector<std::size_t>& tensors) {
  nlohmann::json names = nlohmann::json::array();
  for (const std::size_t index : tensors) names.push_back(model.tensors[index].name);
  return names;
}

nlohmann::json layer_json(const Model& model, const Layer& layer) {
  return {{"name", layer.name},
          {"kind", name_of(layer.kind)},
          {"tensors", names_of(model, layer.tensors)},
          {"shared", names_of(model, layer.shared)},
          {"output", layer.output},
          {"macs", layer.macs},
          {"parameter_bytes", parameter_bytes(model, layer)},
          {"activation_bytes", activation_bytes(layer)}};
}

}  // namespace

std::string describe_table(const UserModel& user_model) {
  const Model& model = user_model.model;
  const Workload& workload = user_model.workload;
  std::string text = model.name + ": ";
  if (!model.layers.empty()) {
    text += fmt::format("input {}, {} layers, {:.3f} GMAC, ", shape_text(model.input_shape),
                        model.layers.size(), static_cast<double>(model.total_macs()) / 1e9);
  }
  text +=
      fmt::format("{} tensors, {} parameters ({})\n", model.tensors.size(),
                  model.total_parameters(), human_bytes(kFloatBytes * model.total_parameters()));
  text += model.layers.empty()
              ? "Tensors are in the order in which their gradients become ready.\n\n"
              : "Shapes, MACs and bytes are those of one sample; convolutions and linear layers "
                "count as "
                "MACs.\n\n";
  text += model.layers.empty() ? tensor_table(workload) : layer_table(model);
  text += fmt::format("\nA batch of {}: forward {}, backward {} ({}: {}).\n", workload.batch,
                      human_time(workload.forward_ns), human_time(workload.backward_ns()),
                      name_of(workload.times), workload.times_from);
  if (!model.layers.empty()) {
    text += fmt::format("Its activations: {}.\n",
                        human_bytes(workload.batch * total_activation_bytes(model)));
  }
  return text +
         fmt::format("Gradients become ready from {} to {}; `--format json` has the order.\n",
                     workload.tensors.front().name, workload.tensors.back().name);
}

std::string describe_json(const UserModel& user_model) {
  const Model& model = user_model.model;
  const Workload& workload = user_model.workload;
  nlohmann::json tensors = nlohmann::json::array();
  for (const TensorSpec& tensor : model.tensors) {
    tensors.push_back(
        {{"name", tensor.name}, {"shape", tensor.shape}, {"parameters", tensor.elements()}});
  }
  nlohmann::json layers = nlohmann::json::array();
  for (const Layer& layer : model.layers) layers.push_back(layer_json(model, layer));
  const nlohmann::json document = {{"name", model.name},
                                   {"input_shape", model.input_shape},
                                   {"batch", workload.batch},
                                   {"times", name_of(workload.times)},
                                   {"times_from", workload.times_from},
                                   {"forward_ns", workload.forward_ns},
                                   {"backward_ns", workload.backward_ns()},
                                   {"total_parameters", model.total_parameters()},
                                   {"total_macs", model.total_macs()},
                                   {"total_activation_bytes", total_activation_bytes(model)},
                                   {"tensors", tensors},
                                   {"ready_order", names_of(model, model.ready_order)},
                                   {"layers", layers}};
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace mergewise
