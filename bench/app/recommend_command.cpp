// SPDX-License-Identifier: Apache-2.0
// `mergewise recommend`: calibrates here, plans by every strategy in the model, replays the best,
// and says whether and how to merge.
#include "bench/app/commands.hpp"
#include "bench/app/launcher.hpp"
#include "bench/app/link_option.hpp"
#include "bench/app/network_options.hpp"
#include "bench/app/output.hpp"
#include "bench/app/plan_document.hpp"
#include "bench/app/rank_options.hpp"
#include "bench/app/ranking.hpp"
#include "bench/app/recommendation.hpp"
#include "bench/app/run_session.hpp"
#include "bench/strategies/registry.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>

namespace mergewise {
namespace {

constexpr int kDefaultRanks = 2;
constexpr std::size_t kShortlist = 3;

struct Arguments {
  NetworkArguments network;
  std::string link;
  RankArguments rank;
  std::string budget = "120s";
  std::string out = "out/recommend";
  std::uint64_t seed = 1;
  std::string format = "table";
};

WorkloadConfig required_network(const NetworkArguments& arguments) {
  if (const auto network = workload_of(arguments)) return *network;
  throw InputError(
      "recommend needs a network: name it with --model (see `mergewise list models`), or give its "
      "file with --file");
}

RunConfig config_of(const Arguments& arguments, int ranks, Nanoseconds deadline_ns) {
  RunConfig config;
  config.name = "recommend";
  config.source = "mergewise recommend";
  config.workloads = {required_network(arguments.network)};
  for (const std::string& id : strategy_ids()) {
    if (make_strategy(id)->replayable()) config.strategies.push_back({id, {}});
  }
  config.ranks = {ranks};
  if (!arguments.network.accelerator.empty()) {
    config.compute.accelerator = arguments.network.accelerator;
  }
  if (const auto link = parse_link(arguments.link)) {
    config.link = RunConfig::Link{link->a_us, link->gbps};
  }
  // The same number for all, never ended early by a narrow interval: blocks are interleaved, so
  // that a machine that grows slower meantime does so for all alike.
  config.iterations.max = 100;
  config.iterations.target = 1e-9;
  config.budget_ns = parse_duration(arguments.budget);
  config.deadline_ns = deadline_ns;
  config.seed = arguments.seed;
  return config;
}

// Its real work is done where it can be and nobody asked for an accelerator's times.
LoadedWorkload load_network(RunConfig& config, const Arguments& arguments) {
  LoadedWorkload loaded = load_workload(config.workloads.front(), config.compute.accelerator);
  if (arguments.network.accelerator.empty() && !loaded.workload.layers.empty()) {
    config.compute.mode = "gemm";
  }
  check_workload(config, loaded);
  return loaded;
}

std::vector<std::string> child_arguments(const Arguments& arguments) {
  std::vector<std::string> words{"recommend"};
  append_network_options(words, arguments.network);
  append_option(words, "--link", arguments.link);
  append_option(words, "--budget", arguments.budget);
  append_option(words, "--deadline", arguments.rank.deadline);
  append_option(words, "--out", arguments.out);
  append_option(words, "--seed", fmt::format("{}", arguments.seed));
  append_option(words, "--format", arguments.format);
  return words;
}

ExitCode conclude(const ResultBook& book, const RunConfig& config, const SessionOptions& options) {
  const Result result = book.snapshot();
  const RecommendationFiles files{options.out / "plan.json", options.out / "profile.json",
                                  book.result_file()};
  const Recommendation found =
      recommend(result.cases, static_cast<std::size_t>(config.iterations.block), config.seed,
                options.local_launch);
  for (const auto& [key, profile] : result.profiles) {
    write_file(files.profile, to_json(profile).dump(2) + "\n");
  }
  if (!found.measured.empty()) {
    const CaseRecord& best = found.measured.front();
    const PlannedCase planned{best.plan, best.options, best.predicted, best.optimal_ns};
    const nlohmann::json document = plan_document(planned, result.profiles.at(best.profile));
    write_file(files.plan, document.dump(2) + "\n");
  }
  if (options.format == "json") {
    fmt::print("{}\n", recommendation_json(found, files).dump(2));
  } else {
    fmt::print("\n{}\n{}Result: {}\n", recommendation_text(found, files), ranking(result.cases),
               files.result.string());
  }
  return exit_code_of(result.cases);
}

ExitCode recommend_here(const Arguments& arguments) {
  const NetworkOptions network = network_of(arguments.rank, RunConfig{}.deadline_ns);
  const RankIdentity identity = identity_of(arguments.rank);
  const bool alone = is_alone(identity);
  const int ranks = alone ? arguments.rank.ranks.value_or(kDefaultRanks) : identity.size;
  if (ranks < 2) {
    throw InputError("a single rank sends nothing, so there is nothing to merge: start 2 or more");
  }
  RunConfig config = config_of(arguments, ranks, network.deadline_ns);
  const std::vector<LoadedWorkload> workloads{load_network(config, arguments)};
  if (alone) {
    prepare_output_folder(arguments.out);
    return launch_local_ranks(ranks, child_arguments(arguments));
  }
  SessionOptions options;
  options.out = arguments.out;
  options.format = arguments.format;
  options.local_launch = become_rank();
  options.shortlist = kShortlist;
  options.conclude = [&](const ResultBook& book) { return conclude(book, config, options); };
  return run_session(config, workloads, identity, rendezvous_of(arguments.rank, identity), network,
                     options);
}

}  // namespace

void add_recommend_command(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand(
      "recommend",
      "Say whether and how to merge a network's gradients on these ranks: calibrate, try every "
      "strategy in the model, replay the best three against sending every tensor alone");
  const auto arguments = std::make_shared<Arguments>();
  add_network_options(
      *command, arguments->network, "The network to train, see `mergewise list models`",
      "Hold its layer times (see `mergewise list accelerators`) instead of doing the "
      "network's real work here");
  add_link_option(*command, arguments->link);
  command->add_option("--budget", arguments->budget, "Stop in time, e.g. 60s or 10m")
      ->capture_default_str();
  command
      ->add_option("--out", arguments->out,
                   "Folder for plan.json, profile.json, result.json and trace.json")
      ->capture_default_str();
  command->add_option("--seed", arguments->seed, "Of the order of blocks, and of intervals")
      ->capture_default_str();
  add_format_option(*command, arguments->format);
  add_rank_options(*command, arguments->rank,
                   fmt::format("Start this many local ranks (default: {})", kDefaultRanks));
  command->footer(
      "Prints \"merge as X\", \"do not merge\" or \"it makes no difference\", with the margin and "
      "its 95 % interval; exit code 0 for each of them.\n"
      "Try it here: mergewise recommend --model resnet50 --batch 64 --accelerator v100 --ranks 4 "
      "--link 50,10\n"
      "On a cluster: start the same line without --ranks and --link by your launcher, one process "
      "per rank.");
  command->callback(
      [&action, arguments] { action = [arguments] { return recommend_here(*arguments); }; });
}

}  // namespace mergewise
