// SPDX-License-Identifier: Apache-2.0
#include "bench/app/network_options.hpp"

#include "bench/app/launcher.hpp"
#include "bench/core/error.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>

namespace mergewise {

void add_network_options(CLI::App& command, NetworkArguments& arguments,
                         const std::string& model_is, const std::string& accelerator_does) {
  auto* model = command.add_option("--model", arguments.model, model_is);
  auto* batch = command.add_option("--batch", arguments.batch, "Its samples an iteration (1)")
                    ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 20));
  auto* file = command.add_option("--file", arguments.file,
                                  "A model file instead: it says its batch itself");
  auto* accelerator = command.add_option("--accelerator", arguments.accelerator, accelerator_does);
  file->excludes(model)->excludes(batch)->excludes(accelerator);
}

std::optional<WorkloadConfig> workload_of(const NetworkArguments& arguments) {
  WorkloadConfig workload;
  if (!arguments.file.empty()) {
    workload.file = std::filesystem::absolute(arguments.file);
  } else if (!arguments.model.empty()) {
    workload.model = arguments.model;
    workload.batch = std::max<std::int64_t>(arguments.batch, 1);
  } else if (arguments.batch > 0 || !arguments.accelerator.empty()) {
    throw InputError(
        "--batch and --accelerator are about a network: name it with --model, or leave them out");
  } else {
    return std::nullopt;
  }
  return workload;
}

void append_network_options(std::vector<std::string>& words, const NetworkArguments& arguments) {
  append_option(words, "--model", arguments.model);
  if (arguments.batch > 0) append_option(words, "--batch", std::to_string(arguments.batch));
  append_option(words, "--file", arguments.file);
  append_option(words, "--accelerator", arguments.accelerator);
}

}  // namespace mergewise
