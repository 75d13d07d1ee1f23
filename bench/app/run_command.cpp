// SPDX-License-Identifier: Apache-2.0
// `mergewise run CONFIG`: decides who this process is, then starts local ranks or runs as one.
#include "bench/app/commands.hpp"
#include "bench/app/compressors.hpp"
#include "bench/app/launcher.hpp"
#include "bench/app/launches.hpp"
#include "bench/app/output.hpp"
#include "bench/app/rank_options.hpp"
#include "bench/app/run_session.hpp"
#include "bench/app/vocabulary.hpp"
#include "bench/core/text.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace mergewise {
namespace {

struct Arguments {
  std::string config;
  std::vector<std::string> compressors;
  std::string out;
  RankArguments rank;
  int launches = 1;
  std::string budget;
  std::string format = "table";
};

// What the launcher's children are given beside rank and rendezvous: the same command.
std::vector<std::string> child_arguments(const Arguments& arguments, const std::string& out) {
  std::vector<std::string> words{"run", arguments.config, "--out",
                                 out,   "--format",       arguments.format};
  append_option(words, "--deadline", arguments.rank.deadline);
  append_option(words, "--budget", arguments.budget);
  for (const std::string& compressor : arguments.compressors) {
    append_option(words, "--compressor", compressor);
  }
  return words;
}

int most_ranks(const RunConfig& config) {
  return *std::max_element(config.ranks.begin(), config.ranks.end());
}

ExitCode run(const Arguments& arguments) {
  RunConfig config = load_run_config(arguments.config, vocabulary());
  const NetworkOptions network = network_of(arguments.rank, config.deadline_ns);
  config.deadline_ns = network.deadline_ns;
  if (!arguments.budget.empty()) config.budget_ns = parse_duration(arguments.budget);
  if (!arguments.compressors.empty()) config.compressors = parse_compressors(arguments.compressors);
  const std::string out = arguments.out.empty() ? "out/" + config.name : arguments.out;

  const RankIdentity identity = identity_of(arguments.rank);
  const bool alone = is_alone(identity);
  const int ranks = alone ? arguments.rank.ranks.value_or(most_ranks(config)) : identity.size;
  if (most_ranks(config) > ranks) {
    throw InputError(
        fmt::format("{} asks for a case with {} ranks, but there are {}: start more "
                    "ranks or change `ranks`",
                    arguments.config, most_ranks(config), ranks));
  }
  // Before anything starts, so that a wrong model or profile is one message and no rank waits for
  // another.
  const auto workloads = load_workloads(config);
  if (arguments.launches > 1 && !alone) {
    throw InputError("--launches starts the ranks anew each time: leave it out under a launcher");
  }
  if (alone && (ranks > 1 || arguments.launches > 1)) {
    prepare_output_folder(out);
    const Launch launch = [&](const std::filesystem::path& folder) {
      return launch_local_ranks(ranks, child_arguments(arguments, folder));
    };
    return arguments.launches > 1 ? run_launches(arguments.launches, out, launch) : launch(out);
  }

  const SessionOptions options{out, arguments.format, become_rank()};
  return run_session(config, workloads, identity, rendezvous_of(arguments.rank, identity), network,
                     options);
}

}  // namespace

void add_run_command(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand(
      "run", "Replay the cases of a config over real ranks, measure them and write the result");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("CONFIG", arguments->config, "Run config (YAML)")->required();
  command->add_option("--out", arguments->out,
                      "Folder for result.json and trace.json (default: out/<name of the config>)");
  add_compressor_option(*command, arguments->compressors,
                        "Compressor instead of the config's; may be repeated");
  command->add_option("--budget", arguments->budget,
                      "Stop in time, e.g. 150s or 10m; beats the config");
  command
      ->add_option("--launches", arguments->launches,
                   "Repeat the whole run in this many launches and show the spread between them")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  add_format_option(*command, arguments->format);
  add_rank_options(*command, arguments->rank,
                   "Start this many local ranks (default: the most that a case of the config has)");
  command->callback([&action, arguments] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace mergewise
