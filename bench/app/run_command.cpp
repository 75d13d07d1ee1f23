// SPDX-License-Identifier: Apache-2.0
// `mergewise run CONFIG`: decides who this process is, then starts local ranks or runs as one.
#include "bench/app/commands.hpp"
#include "bench/app/launcher.hpp"
#include "bench/app/launches.hpp"
#include "bench/app/result_book.hpp"
#include "bench/app/run_session.hpp"
#include "bench/app/stop_signals.hpp"
#include "bench/app/vocabulary.hpp"
#include "bench/core/text.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <sys/prctl.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <memory>

namespace mergewise {
namespace {

struct Arguments {
  std::string config;
  std::optional<int> ranks;
  std::string out;
  RankFlags identity;
  std::string rendezvous;
  std::string interface;
  std::string address;
  int launches = 1;
  std::string deadline;
  std::string budget;
  std::string format = "table";
};

std::optional<std::string> environment_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

// What the launcher's children are given beside rank and rendezvous: the same command.
std::vector<std::string> child_arguments(const Arguments& arguments, const std::string& out) {
  std::vector<std::string> words{"run", arguments.config, "--out",
                                 out,   "--format",       arguments.format};
  const auto add = [&](const char* flag, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {flag, value});
  };
  add("--deadline", arguments.deadline);
  add("--budget", arguments.budget);
  return words;
}

Rendezvous rendezvous_of(const Arguments& arguments, const RankIdentity& identity) {
  if (!arguments.rendezvous.empty()) return parse_rendezvous(arguments.rendezvous);
  const auto host = environment_variable("MASTER_ADDR");
  const auto port = environment_variable("MASTER_PORT");
  if (host && port) return parse_rendezvous(fmt::format("tcp:{}:{}", *host, *port));
  if (identity.size == 1) return {};
  throw InputError(fmt::format(
      "this is rank {} of {} (by {}), but nothing says where the ranks meet: give --rendezvous "
      "file:DIR (a directory all of them see) or tcp:HOST:PORT, or set MASTER_ADDR and MASTER_PORT",
      identity.rank, identity.size, identity.source));
}

int most_ranks(const RunConfig& config) {
  return *std::max_element(config.ranks.begin(), config.ranks.end());
}

ExitCode run(const Arguments& arguments) {
  RunConfig config = load_run_config(arguments.config, vocabulary());
  if (!arguments.deadline.empty()) config.deadline_ns = parse_duration(arguments.deadline);
  if (!arguments.budget.empty()) config.budget_ns = parse_duration(arguments.budget);
  const std::string out = arguments.out.empty() ? "out/" + config.name : arguments.out;

  const RankIdentity identity = find_identity(arguments.identity, environment_variable);
  const bool alone = identity.source == "alone";
  if (arguments.ranks && !alone) {
    throw InputError(fmt::format(
        "--ranks {} starts local ranks itself, but this process already is rank {} of {} (by {}): "
        "leave --ranks out under a launcher",
        *arguments.ranks, identity.rank, identity.size, identity.source));
  }
  const int ranks = alone ? arguments.ranks.value_or(most_ranks(config)) : identity.size;
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

  SessionOptions options{out, arguments.format, std::getenv(kLocalRankVariable) != nullptr};
  // A local rank must not outlive the process that started it.
  if (options.local_launch) prctl(PR_SET_PDEATHSIG, SIGTERM);
  install_stop_signals();
  const NetworkOptions network{arguments.interface, arguments.address, config.deadline_ns};
  return run_session(config, workloads, identity, rendezvous_of(arguments, identity), network,
                     options);
}

void add_rank_options(CLI::App& command, Arguments& arguments) {
  command
      .add_option("--ranks", arguments.ranks,
                  "Start this many local ranks (default: the most that a case of the config has)")
      ->check(CLI::Range(1, 1024));
  constexpr const char* kLauncher = "Started by hand or by a launcher, one process per rank";
  command.add_option("--rank", arguments.identity.rank, "This process's rank (default: RANK, ...)")
      ->group(kLauncher);
  command
      .add_option("--world-size", arguments.identity.world_size,
                  "How many ranks there are (default: WORLD_SIZE, Open MPI's, PMI's or Slurm's)")
      ->group(kLauncher);
  command.add_option("--local-rank", arguments.identity.local_rank, "The rank on this host")
      ->group(kLauncher);
  command
      .add_option("--rendezvous", arguments.rendezvous,
                  "Where ranks meet: file:DIR or tcp:HOST:PORT (default: MASTER_ADDR, MASTER_PORT)")
      ->group(kLauncher);
  command.add_option("--interface", arguments.interface, "Network interface to use, e.g. eth0")
      ->group(kLauncher);
  command.add_option("--address", arguments.address, "Own address to use instead of an interface")
      ->group(kLauncher);
}

}  // namespace

void add_run_command(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand(
      "run", "Replay the cases of a config over real ranks, measure them and write the result");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("CONFIG", arguments->config, "Run config (YAML)")->required();
  command->add_option("--out", arguments->out,
                      "Folder for result.json and trace.json (default: out/<name of the config>)");
  command->add_option("--budget", arguments->budget,
                      "Stop in time, e.g. 150s or 10m; beats the config");
  command->add_option("--deadline", arguments->deadline,
                      "How long a rank may be silent before it counts as failed; beats the config");
  command
      ->add_option("--launches", arguments->launches,
                   "Repeat the whole run in this many launches and show the spread between them")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  add_format_option(*command, arguments->format);
  add_rank_options(*command, *arguments);
  command->callback([&action, arguments] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace mergewise
