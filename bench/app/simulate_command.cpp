// SPDX-License-Identifier: Apache-2.0
// `mergewise simulate CONFIG`: the cases of a config in virtual time.
#include "bench/app/commands.hpp"
#include "bench/app/compressors.hpp"
#include "bench/app/output.hpp"
#include "bench/app/simulation.hpp"
#include "bench/app/simulation_tables.hpp"
#include "bench/result/environment.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace mergewise {
namespace {

constexpr std::size_t kMostListedCases = 100;  // more are summed up

struct Arguments {
  std::string config;
  std::vector<std::string> compressors;
  std::string out;
  std::string format = "table";
};

ExitCode run_simulation(const Arguments& arguments) {
  SimulateConfig config = load_simulate_config(arguments.config, simulation_vocabulary());
  if (!arguments.compressors.empty()) {
    config.compressors = parse_compressors(arguments.compressors);
    config.own_compressors = false;
  }
  const Simulation simulation = load_simulation(config);
  const std::filesystem::path out = arguments.out.empty() ? "out/" + config.name : arguments.out;
  prepare_output_folder(out);
  const Result result = simulate(simulation, allowed_processors());
  const std::filesystem::path file = out / "result.json";
  write_result(file, result);
  if (arguments.format == "json") {
    fmt::print("{}\n", to_json(result).dump(2));
  } else {
    const bool few = result.cases.size() <= kMostListedCases;
    fmt::print("{}Result: {} (simulated)\n",
               few ? simulated_ranking(result.cases) : simulated_summary(result.cases),
               file.string());
  }
  const bool any =
      std::any_of(result.cases.begin(), result.cases.end(),
                  [](const CaseRecord& record) { return record.status == CaseStatus::kOk; });
  if (!any) {
    throw UnsupportedError(fmt::format("{}: no case could be simulated: {}", arguments.config,
                                       result.cases.front().reason));
  }
  return ExitCode::kOk;
}

}  // namespace

void add_simulate_command(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("simulate",
                                     "Predict the cases of a config in virtual time, on clusters "
                                     "of any size, and write the result");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("CONFIG", arguments->config, "Simulation config (YAML)")->required();
  command->add_option("--out", arguments->out,
                      "Folder for result.json (default: out/<name of the config>)");
  add_compressor_option(*command, arguments->compressors,
                        "Compressor instead of the config's; may be repeated");
  add_format_option(*command, arguments->format);
  command->callback(
      [&action, arguments] { action = [arguments] { return run_simulation(*arguments); }; });
}

}  // namespace mergewise
