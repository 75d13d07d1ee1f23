// SPDX-License-Identifier: Apache-2.0
// `mergewise describe MODEL`: a network's layers, tensors and times, as text or as a model file.
#include "bench/app/commands.hpp"
#include "bench/app/data_folder.hpp"
#include "bench/app/describe.hpp"
#include "bench/app/measure_layers.hpp"
#include "workloads/workload.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>

namespace mergewise {
namespace {

struct Arguments {
  std::string model;
  ModelArguments sizes;
  std::int64_t batch = 1;
  std::string accelerator = "v100";
  std::string format = "table";
  bool measure = false;
};

bool is_file(const std::string& model) {
  const std::string extension = std::filesystem::path(model).extension().string();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

UserModel load(const Arguments& arguments) {
  if (is_file(arguments.model)) return load_user_model(arguments.model);
  Model model = build_model(arguments.model, arguments.sizes);
  Workload workload = make_workload(model, arguments.batch,
                                    load_accelerator(arguments.accelerator, accelerators_folder()));
  return {std::move(model), std::move(workload)};
}

ExitCode describe(const Arguments& arguments) {
  const UserModel user_model = load(arguments);
  if (arguments.measure) {
    print_layer_measurement(user_model.workload, arguments.format);
  } else if (arguments.format == "json") {
    fmt::print("{}", describe_json(user_model));
  } else if (arguments.format == "yaml") {
    fmt::print("{}", user_model_yaml(user_model));
  } else {
    fmt::print("{}", describe_table(user_model));
  }
  return ExitCode::kOk;
}

}  // namespace

void add_describe_command(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("describe",
                                     "Show a network's layers, shapes, multiply-accumulates and "
                                     "times; --format yaml makes a model "
                                     "file");
  // The networks know their own limits.
  const CLI::Range positive(std::int64_t{1}, std::int64_t{1} << 40);
  const auto arguments = std::make_shared<Arguments>();
  command
      ->add_option("MODEL", arguments->model,
                   "A model's id, see `mergewise list models`, or a model file (.yaml, .json)")
      ->required();
  // What a file has already said cannot be chosen again.
  std::vector<CLI::Option*> of_networks{
      command
          ->add_option("--image-size", arguments->sizes.image_size,
                       "Height and width of the input image (default: the network's own)")
          ->check(positive),
      command
          ->add_option("--sequence-length", arguments->sizes.sequence_length,
                       "Tokens of the input (default: the network's own)")
          ->check(positive),
      command->add_option("--batch", arguments->batch, "Samples an iteration")
          ->check(positive)
          ->capture_default_str(),
      command
          ->add_option("--accelerator", arguments->accelerator,
                       "Whose layer times, see `mergewise list accelerators`")
          ->capture_default_str()};
  command
      ->add_option("--format", arguments->format,
                   "How to print: table, json, or yaml (a model file that configs can name)")
      ->check(CLI::IsMember({"table", "json", "yaml"}))
      ->capture_default_str();
  command->add_flag("--measure", arguments->measure,
                    "Run each layer's real work here, and show what it reaches of this machine's "
                    "rates for matrix products and copies");
  command->callback([&action, arguments, of_networks] {
    for (const CLI::Option* option : of_networks) {
      if (is_file(arguments->model) && option->count() > 0) {
        throw CLI::ValidationError(option->get_name(), "the file " + arguments->model +
                                                           " says this already, leave it out");
      }
    }
    if (arguments->measure && arguments->format == "yaml") {
      throw CLI::ValidationError("--measure", "prints a table or json, not yaml");
    }
    action = [arguments] { return describe(*arguments); };
  });
}

}  // namespace mergewise
