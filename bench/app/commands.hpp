// SPDX-License-Identifier: Apache-2.0
// The command line: one function per subcommand registers its options and its action.
#pragma once

#include "bench/core/error.hpp"

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace mergewise {

/// What the chosen subcommand will do; run after parsing. Returns the exit code, throws Error.
using Action = std::function<ExitCode()>;

/// Each adds its subcommand to `app` and stores its action when it was chosen.
void add_list_command(CLI::App& app, Action& action);
void add_describe_command(CLI::App& app, Action& action);
void add_import_command(CLI::App& app, Action& action);
void add_plan_command(CLI::App& app, Action& action);
void add_calibrate_command(CLI::App& app, Action& action);
void add_run_command(CLI::App& app, Action& action);
void add_recommend_command(CLI::App& app, Action& action);
void add_reproduce_command(CLI::App& app, Action& action);
void add_simulate_command(CLI::App& app, Action& action);

/// `--format table|json`, the same for every command.
void add_format_option(CLI::App& command, std::string& format);

/// Parses, runs, and turns whatever is thrown into one message on stderr and an exit code.
[[nodiscard]] int run_program(int argc, const char* const* argv);

}  // namespace mergewise
