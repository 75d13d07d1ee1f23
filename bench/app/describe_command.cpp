// SPDX-License-Identifier: Apache-2.0
// `mergewise describe MODEL`: a network's tensors, layers and ready order.
#include "bench/app/commands.hpp"
#include "bench/app/table.hpp"
#include "workloads/model.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>

namespace mergewise {
namespace {

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

nlohmann::json to_json(const Model& model) {
  nlohmann::json tensors = nlohmann::json::array();
  for (const TensorSpec& tensor : model.tensors) {
    tensors.push_back(
        {{"name", tensor.name}, {"shape", tensor.shape}, {"parameters", tensor.elements()}});
  }
  nlohmann::json ready = nlohmann::json::array();
  for (const std::size_t index : model.ready_order) ready.push_back(model.tensors[index].name);
  nlohmann::json layers = nlohmann::json::array();
  for (const Layer& layer : model.layers) {
    nlohmann::json names = nlohmann::json::array();
    for (const std::size_t index : layer.tensors) names.push_back(model.tensors[index].name);
    layers.push_back({{"name", layer.name},
                      {"kind", name_of(layer.kind)},
                      {"tensors", names},
                      {"macs", layer.macs},
                      {"activations", layer.activations}});
  }
  return {{"name", model.name},
          {"input_shape", model.input_shape},
          {"total_parameters", model.total_parameters()},
          {"total_macs", model.total_macs()},
          {"tensors", tensors},
          {"ready_order", ready},
          {"layers", layers}};
}

void print_table(const Model& model) {
  fmt::print(
      "{}: input {} a sample, {} tensors, {} parameters, {} multiply-accumulates a sample\n\n",
      model.name, shape_text(model.input_shape), model.tensors.size(), model.total_parameters(),
      model.total_macs());
  std::vector<std::vector<std::string>> rows;
  for (const Layer& layer : model.layers) {
    if (layer.tensors.empty()) {
      rows.push_back({layer.name, name_of(layer.kind), "", "", "0", fmt::format("{}", layer.macs)});
    }
    for (const std::size_t index : layer.tensors) {
      const TensorSpec& tensor = model.tensors[index];
      const bool first = index == layer.tensors.front();
      rows.push_back({layer.name, name_of(layer.kind), tensor.name, shape_text(tensor.shape),
                      fmt::format("{}", tensor.elements()),
                      first ? fmt::format("{}", layer.macs) : ""});
    }
  }
  fmt::print(
      "{}\nGradients become ready in this order (`--format json`: ready_order): {} first, "
      "{} last.\n",
      format_table({"layer", "kind", "tensor", "shape", "parameters", "MACs"}, rows, 4),
      model.tensors[model.ready_order.front()].name, model.tensors[model.ready_order.back()].name);
}

}  // namespace

void add_describe_command(CLI::App& app, Action& action) {
  struct Arguments {
    std::string model;
    ModelArguments sizes;
    std::string format = "table";
  };
  auto* command =
      app.add_subcommand("describe", "Show a network's tensors, layers and ready order");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("MODEL", arguments->model, "A model's id, see `mergewise list models`")
      ->required();
  command
      ->add_option("--image-size", arguments->sizes.image_size,
                   "Height and width of the input image (default: the network's own)")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--sequence-length", arguments->sizes.sequence_length,
                   "Tokens of the input (default: the network's own)")
      ->check(CLI::PositiveNumber);
  add_format_option(*command, arguments->format);
  command->callback([&action, arguments] {
    action = [arguments] {
      const Model model = build_model(arguments->model, arguments->sizes);
      if (arguments->format == "json") {
        fmt::print("{}\n", to_json(model).dump(2));
      } else {
        print_table(model);
      }
      return ExitCode::kOk;
    };
  });
}

}  // namespace mergewise
