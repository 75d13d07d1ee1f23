// SPDX-License-Identifier: Apache-2.0
// `--model`, `--batch`, `--file` and `--accelerator` of the commands that take one network.
#pragma once

#include "bench/config/run_config.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace mergewise {

struct NetworkArguments {
  std::string model;
  std::int64_t batch = 0;  ///< 0: not given
  std::string file;
  std::string accelerator;
};

/// `model_is` and `accelerator_does` are the sentences about these two in the command's help.
void add_network_options(CLI::App& command, NetworkArguments& arguments,
                         const std::string& model_is, const std::string& accelerator_does);

/// The network that was asked for, if any. Throws InputError for a batch or an accelerator of none.
[[nodiscard]] std::optional<WorkloadConfig> workload_of(const NetworkArguments& arguments);

/// For the launcher's children.
void append_network_options(std::vector<std::string>& words, const NetworkArguments& arguments);

}  // namespace mergewise
