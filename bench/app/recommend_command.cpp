// SPDX-License-Identifier: Apache-2.0
// `mergewise recommend`: calibrates here, plans by every strategy in the model, replays the best,
// and says whether and how to merge.
#include "bench/app/commands.hpp"
#include "bench/app/launcher.hpp"
#include "bench/app/link_option.hpp"
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
  std::string model;
  std::int64_t batch = 0;
  std::string file;
  std::string accelerator;
  std::string link;
  RankArguments rank;
  std::string budget = "120s";
  std::string out = "out/recommend";
  std::uint64_t seed = 1;
  std::string format = "table";
};

WorkloadConfig workload_of(const Arguments& arguments) {
  if (arguments.model.empty() && arguments.file.empty()) {
    throw InputError(
        "recommend needs a network: name it with --model (see `mergewise list models`), or give "
        "its file with --file");
  }
  WorkloadConfig workload;
  workload.model = arguments.model;
  if (!arguments.model.empty()) workload.batch = std::max<std::int64_t>(arguments.batch, 1);
  if (!arguments.file.empty()) workload.file = std::filesystem::absolute(arguments.file);
  return workload;
}

RunConfig config_of(const Arguments& arguments, int ranks, Nanoseconds deadline_ns) {
  RunConfig config;
  config.name = "recommend";
  config.source = "mergewise recommend";
  config.workloads = {workload_of(arguments)};
  for (const std::string& id : strategy_ids()) {
    if (make_strategy(id)->replayable()) config.strategies.push_back({id, {}});
  }
  config.ranks = {ranks};
  if (!arguments.accelerator.empty()) config.compute.accelerator = arguments.accelerator;
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

// The network's real work where it can be done and nobody asked for an accelerator's times.
void choose_compute(RunConfig& config, const Arguments& arguments) {
  if (!arguments.accelerator.empty()) return;
  const LoadedWorkload loaded = load_workload(config.workloads.front(), config.compute.accelerator);
  if (!loaded.workload.layers.empty()) config.compute.mode = "gemm";
}

std::vector<std::string> child_arguments(const Arguments& arguments) {
  std::vector<std::string> words{"recommend"};
  const auto add = [&](const char* flag, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {flag, value});
  };
  add("--model", arguments.model);
  if (arguments.batch > 0) add("--batch", fmt::format("{}", arguments.batch));
  add("--file", arguments.file);
  add("--accelerator", arguments.accelerator);
  add("--link", arguments.link);
  add("--budget", arguments.budget);
  add("--deadline", arguments.rank.deadline);
  add("--out", arguments.out);
  add("--seed", fmt::format("{}", arguments.seed));
  add("--format", arguments.format);
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
  choose_compute(config, arguments);
  const auto workloads = load_workloads(config);
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

void add_network_options(CLI::App& command, Arguments& arguments) {
  auto* model = command.add_option("--model", arguments.model,
                                   "The network to train, see `mergewise list models`");
  auto* batch = command.add_option("--batch", arguments.batch, "Its samples an iteration (1)")
                    ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 20));
  auto* file = command.add_option("--file", arguments.file,
                                  "A model file instead: it says its batch itself");
  auto* accelerator = command.add_option(
      "--accelerator", arguments.accelerator,
      "Hold its layer times (see `mergewise list accelerators`) instead of doing the network's "
      "real work here");
  file->excludes(model)->excludes(batch)->excludes(accelerator);
}

}  // namespace

void add_recommend_command(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand(
      "recommend",
      "Say whether and how to merge a network's gradients on these ranks: calibrate, try every "
      "strategy in the model, replay the best three against sending every tensor alone");
  const auto arguments = std::make_shared<Arguments>();
  add_network_options(*command, *arguments);
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
