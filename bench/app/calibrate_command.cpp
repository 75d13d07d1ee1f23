// SPDX-License-Identifier: Apache-2.0
// `mergewise calibrate`: measures what plans are made from on these ranks, and writes a profile.
#include "bench/app/calibration_session.hpp"
#include "bench/app/commands.hpp"
#include "bench/app/compressors.hpp"
#include "bench/app/launcher.hpp"
#include "bench/app/link_option.hpp"
#include "bench/app/load_workloads.hpp"
#include "bench/app/network_options.hpp"
#include "bench/app/output.hpp"
#include "bench/app/rank_options.hpp"
#include "bench/config/run_config.hpp"
#include "bench/core/text.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <memory>
#include <set>

namespace mergewise {
namespace {

constexpr int kDefaultRanks = 2;
constexpr Bytes kLargest = Bytes{1} << 34;

struct Arguments {
  NetworkArguments network;
  RankArguments rank;
  std::string out = "out/calibrate/profile.json";
  std::string largest = "256MiB";
  std::string budget = "60s";
  std::string link;
  std::string buffers = "slice";
  std::vector<std::string> collectives{"all_reduce", "all_gather", "reduce_scatter"};
  std::vector<std::string> variants = cost_variant_names();
  std::vector<std::string> compressors;
  std::uint64_t seed = 1;
  std::string format = "table";
};

// "256MiB", "4096".
Bytes parse_bytes(const std::string& text) {
  constexpr std::array<std::pair<std::string_view, double>, 8> kUnits{{{"", 1},
                                                                       {"B", 1},
                                                                       {"KiB", 1024.0},
                                                                       {"MiB", 1048576.0},
                                                                       {"GiB", 1073741824.0},
                                                                       {"KB", 1e3},
                                                                       {"MB", 1e6},
                                                                       {"GB", 1e9}}};
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc{} && std::isfinite(number)) {
    const std::string_view suffix(rest, static_cast<std::size_t>(end - rest));
    for (const auto& [name, size] : kUnits) {
      const double bytes = number * size;
      if (suffix == name && bytes >= 4 && bytes <= static_cast<double>(kLargest)) {
        return static_cast<Bytes>(bytes) / 4 * 4;
      }
    }
  }
  throw InputError(fmt::format(
      "--largest {}: expected a size of 4 bytes to 16GiB, such as 256MiB (B, KiB, MiB, GiB, KB, MB "
      "or GB)",
      excerpt(text)));
}

// Nothing where only collectives are measured.
std::optional<Workload> load_network(const NetworkArguments& network) {
  const auto config = workload_of(network);
  if (!config) return std::nullopt;
  return load_workload(*config, network.accelerator.empty() ? "v100" : network.accelerator)
      .workload;
}

// A profile has one cost for each id.
std::vector<ChoiceConfig> compressors_of(const std::vector<std::string>& texts) {
  std::vector<ChoiceConfig> compressors = parse_compressors(texts);
  std::set<std::string> ids;
  for (const ChoiceConfig& compressor : compressors) {
    if (compressor.id == "none") {
      throw InputError("--compressor none: sending gradients as they are costs nothing to measure");
    }
    if (ids.insert(compressor.id).second) continue;
    throw InputError(
        fmt::format("--compressor {0}: a profile has one cost for each compressor, but '{0}' is "
                    "given with several options; calibrate them into profiles of their own",
                    compressor.id));
  }
  return compressors;
}

CalibrationRequest request_of(const Arguments& arguments) {
  CalibrationRequest request;
  request.workload = load_network(arguments.network);
  // What an accelerator would take is given by its description; real work shows what it takes here.
  request.measure_layers = request.workload && arguments.network.accelerator.empty() &&
                           !request.workload->layers.empty();
  request.copies_in_profile = arguments.buffers == "copy";
  for (const std::string& name : arguments.collectives) {
    request.collectives.push_back(collective_from(name));
  }
  for (const std::string& name : arguments.variants) {
    request.variants.push_back(cost_variant_from(name));
  }
  request.compressors = compressors_of(arguments.compressors);
  request.link = parse_link(arguments.link);
  request.largest = parse_bytes(arguments.largest);
  request.budget_ns = parse_duration(arguments.budget);
  request.seed = arguments.seed;
  request.out = arguments.out;
  request.format = arguments.format;
  return request;
}

// What the launcher's children are given beside rank and rendezvous: the same command.
std::vector<std::string> child_arguments(const Arguments& arguments) {
  std::vector<std::string> words{"calibrate"};
  append_network_options(words, arguments.network);
  append_option(words, "--out", arguments.out);
  append_option(words, "--largest", arguments.largest);
  append_option(words, "--budget", arguments.budget);
  append_option(words, "--link", arguments.link);
  append_option(words, "--buffers", arguments.buffers);
  append_option(words, "--collectives", join(arguments.collectives, ","));
  append_option(words, "--variants", join(arguments.variants, ","));
  for (const std::string& compressor : arguments.compressors) {
    append_option(words, "--compressor", compressor);
  }
  append_option(words, "--seed", fmt::format("{}", arguments.seed));
  append_option(words, "--format", arguments.format);
  append_option(words, "--deadline", arguments.rank.deadline);
  return words;
}

ExitCode calibrate(const Arguments& arguments) {
  const CalibrationRequest request = request_of(arguments);
  const RankIdentity identity = identity_of(arguments.rank);
  const NetworkOptions network = network_of(arguments.rank, NetworkOptions{}.deadline_ns);
  const std::filesystem::path folder = request.out.parent_path();
  if (identity.rank == 0) {
    prepare_output_folder(folder.empty() ? "." : folder);
    check_output_file(request.out, "--out");
  }
  const int ranks = arguments.rank.ranks.value_or(kDefaultRanks);
  if (is_alone(identity) && ranks > 1) return launch_local_ranks(ranks, child_arguments(arguments));
  const bool local = become_rank();
  return run_calibration(request, identity, rendezvous_of(arguments.rank, identity), network,
                         local);
}

void add_measuring_options(CLI::App& command, Arguments& arguments) {
  command
      .add_option("--largest", arguments.largest,
                  "Largest size; of an all-gather, of all that is gathered")
      ->capture_default_str();
  command.add_option("--budget", arguments.budget, "Stop in time, e.g. 60s or 10m")
      ->capture_default_str();
  add_link_option(command, arguments.link);
  command.add_option("--buffers", arguments.buffers, "With copy the profile has costs of copies")
      ->check(CLI::IsMember({"slice", "copy"}))
      ->capture_default_str();
  command.add_option("--collectives", arguments.collectives, "Which ones")
      ->delimiter(',')
      ->capture_default_str();
  command
      .add_option("--variants", arguments.variants,
                  "Under which conditions; plans use the last of these that was measured")
      ->delimiter(',')
      ->capture_default_str();
  add_compressor_option(command, arguments.compressors,
                        "Measure compressing and decompressing too; may be repeated, or all");
  command.add_option("--seed", arguments.seed, "Of the order of sizes, and of draws")
      ->capture_default_str();
}

}  // namespace

void add_calibrate_command(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand(
      "calibrate",
      "Measure what collectives, copies, compressors and a network's layers cost on these ranks; "
      "write a profile");
  const auto arguments = std::make_shared<Arguments>();
  add_network_options(
      *command, arguments->network, "The network of the profile, see `mergewise list models`",
      "Take its layer times (see `mergewise list accelerators`) instead of measuring "
      "the network's real work here");
  command
      ->add_option("--out", arguments->out,
                   "The profile; the record goes beside it as NAME.calibration.json")
      ->capture_default_str();
  add_measuring_options(*command, *arguments);
  add_format_option(*command, arguments->format);
  add_rank_options(*command, arguments->rank,
                   fmt::format("Start this many local ranks (default: {})", kDefaultRanks));
  command->callback(
      [&action, arguments] { action = [arguments] { return calibrate(*arguments); }; });
}

}  // namespace mergewise
