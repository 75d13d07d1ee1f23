// SPDX-License-Identifier: Apache-2.0
#include "bench/app/commands.hpp"

#include "bench/core/version.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>

namespace mergewise {
namespace {

constexpr const char* kDescription =
    "Mergewise measures how well merging gradients hides communication in data-parallel training.\n"
    "It replays the layer shapes of real networks, merges their gradients by every known "
    "strategy,\n"
    "sends them over real collectives, and shows how far each is from the provable optimum.";

constexpr const char* kFooter =
    "Exit codes: 0 fine, 1 regression found, 2 bad input or usage, 3 a run or a verification "
    "failed.\n"
    "Start with: mergewise run configs/quickstart.yaml";

ExitCode report_error(const char* message, ExitCode code) {
  std::fprintf(stderr, "mergewise: %s\n", message);
  return code;
}

// Everything that an action may throw becomes one message and one exit code here.
ExitCode run_action(const Action& action) {
  try {
    const ExitCode code = action();
    // What is still in the buffer may not fit where it goes.
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      return report_error("cannot write to standard output: is the disk full, or nobody reading?",
                          ExitCode::kRunFailed);
    }
    return code;
  } catch (const Error& error) {
    return report_error(error.what(), error.code());
  } catch (const std::bad_alloc&) {
    return report_error("out of memory: use a smaller model, batch or number of ranks",
                        ExitCode::kRunFailed);
  } catch (const std::exception& error) {
    return report_error(error.what(), ExitCode::kRunFailed);
  }
}

}  // namespace

void add_format_option(CLI::App& command, std::string& format) {
  command.add_option("--format", format, "How to print: table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
}

int run_program(int argc, const char* const* argv) {
  CLI::App app{kDescription, "mergewise"};
  app.footer(kFooter);
  app.set_version_flag("--version", MERGEWISE_VERSION);
  app.require_subcommand(1);
  Action action;
  add_list_command(app, action);
  add_describe_command(app, action);
  add_import_command(app, action);
  add_plan_command(app, action);
  add_calibrate_command(app, action);
  add_run_command(app, action);
  add_recommend_command(app, action);
  add_reproduce_command(app, action);
  add_simulate_command(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool asked_for_text = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success);
    app.exit(error);
    return static_cast<int>(asked_for_text ? ExitCode::kOk : ExitCode::kBadInput);
  }
  return static_cast<int>(run_action(action));
}

}  // namespace mergewise
