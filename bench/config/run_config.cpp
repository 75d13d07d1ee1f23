// SPDX-License-Identifier: Apache-2.0
#include "bench/config/run_config.hpp"

#include "bench/config/choices.hpp"
#include "bench/config/config_readers.hpp"

#include <fmt/format.h>

namespace mergewise {
namespace {

using detail::above_zero;
using detail::at_place;
using detail::id_or_file;
using detail::small_integer;

constexpr std::size_t kMaxCases = 10'000;
constexpr std::int64_t kMaxIterations = 1'000'000;

Nanoseconds duration(const Node& node) {
  const std::string text = node.as_string();
  return at_place(node, "", [&] { return parse_duration(text); });
}

RunConfig::Compute read_compute(const Node& node, const std::filesystem::path& folder,
                                const ConfigVocabulary& vocabulary) {
  node.allow_keys({"mode", "accelerator"});
  RunConfig::Compute compute;
  if (auto mode = node.find("mode"))
    compute.mode = one_of(*mode, "compute mode", {"timed", "gemm"});
  if (auto accelerator = node.find("accelerator")) {
    compute.accelerator = id_or_file(*accelerator, "accelerator", vocabulary.accelerators, folder);
  }
  return compute;
}

RunConfig::Link read_link(const Node& node) {
  node.allow_keys({"a_us", "gbps"});
  return {node.at("a_us").as_number(0, RunConfig::Link::kMostUs),
          node.at("gbps").as_number(RunConfig::Link::kLeastGbps, RunConfig::Link::kMostGbps)};
}

RunConfig::Iterations read_iterations(const Node& node) {
  node.allow_keys({"block", "max", "target"});
  RunConfig::Iterations iterations;
  const auto block = node.find("block");
  const auto max = node.find("max");
  if (block) iterations.block = small_integer(*block, 1, kMaxIterations);
  if (max) iterations.max = small_integer(*max, 1, kMaxIterations);
  if (iterations.max < iterations.block) {
    (max ? *max : *block)
        .fail(fmt::format("max ({}) is smaller than block ({}), expected at least one block",
                          iterations.max, iterations.block));
  }
  if (auto target = node.find("target")) {
    iterations.target = above_zero(*target, 1);
    if (iterations.target == 1) {
      target->fail(fmt::format("'{}' is not valid here, expected < 1", target->text()));
    }
  }
  return iterations;
}

// The keys that say how to run, all with defaults.
void read_settings(const Node& root, const std::filesystem::path& folder,
                   const ConfigVocabulary& vocabulary, RunConfig& config) {
  if (auto node = root.find("device")) config.device = one_of(*node, "device", vocabulary.devices);
  if (auto node = root.find("collective")) {
    config.collective = one_of(*node, "collective", vocabulary.collectives);
  }
  if (auto node = root.find("compute")) config.compute = read_compute(*node, folder, vocabulary);
  if (auto node = root.find("link")) config.link = read_link(*node);
  if (auto node = root.find("accumulation")) {
    config.accumulation = small_integer(*node, 1, kMaxIterations);
  }
  if (auto node = root.find("grad_dtype")) {
    if (one_of(*node, "grad_dtype", {"fp32", "bf16", "fp16"}) != "fp32") {
      node->fail(
          fmt::format("'{}' cannot be replayed yet, expected fp32: `mergewise simulate` has "
                      "the others in the model",
                      node->text()));
    }
  }
  if (auto node = root.find("buffers"))
    config.buffers = one_of(*node, "buffers", {"slice", "copy"});
  if (auto node = root.find("iterations")) config.iterations = read_iterations(*node);
  if (auto node = root.find("budget")) config.budget_ns = duration(*node);
  if (auto node = root.find("seed")) {
    config.seed = static_cast<std::uint64_t>(node->as_integer(0));
  }
  if (auto node = root.find("deadline")) config.deadline_ns = duration(*node);
}

void refuse_too_many_cases(const Node& root, const RunConfig& config) {
  // Each list is far below 2^20 long, as the file is, so the product fits in a double exactly
  // enough.
  const double cases =
      static_cast<double>(config.workloads.size()) * static_cast<double>(config.strategies.size()) *
      static_cast<double>(config.compressors.size()) * static_cast<double>(config.ranks.size());
  if (cases > kMaxCases) {
    root.at("workloads")
        .fail(fmt::format("workloads x strategies x compressors x ranks make {} cases, expected at "
                          "most {}; split the config",
                          cases, kMaxCases));
  }
}

}  // namespace

RunConfig load_run_config(const std::filesystem::path& file, const ConfigVocabulary& vocabulary) {
  return run_config_from(parse_file(file, kConfigLimits), file, vocabulary);
}

RunConfig run_config_from(const Node& root, const std::filesystem::path& source,
                          const ConfigVocabulary& vocabulary) {
  root.allow_keys({"name", "workloads", "strategies", "compressors", "ranks", "device",
                   "collective", "compute", "link", "accumulation", "grad_dtype", "buffers",
                   "iterations", "budget", "seed", "deadline"});
  const std::filesystem::path folder = std::filesystem::absolute(source).parent_path();
  RunConfig config;
  config.source = source;
  config.name = detail::read_name(root.at("name"));
  config.workloads = detail::read_workloads(root.at("workloads"), folder, vocabulary);
  config.strategies =
      detail::read_choices(root.at("strategies"), "strategy", vocabulary.strategies);
  if (auto node = root.find("compressors")) {
    config.compressors = detail::read_compressors(*node, vocabulary);
  }
  if (auto node = root.find("ranks")) config.ranks = detail::read_ranks(*node);
  read_settings(root, folder, vocabulary, config);
  refuse_too_many_cases(root, config);
  return config;
}

}  // namespace mergewise
