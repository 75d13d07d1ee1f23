// SPDX-License-Identifier: Apache-2.0
#include "bench/config/run_config.hpp"

#include "bench/core/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

namespace mergewise {
namespace {

constexpr std::size_t kMaxCases = 10'000;
constexpr std::int64_t kMaxRanks = 65'536;
constexpr std::int64_t kMaxBatch = 1 << 20;
constexpr std::int64_t kMaxSize = 1 << 16;  // of an image's side or a sequence
constexpr std::int64_t kMaxIterations = 1'000'000;
constexpr double kMaxLink = 1e9;  // of a_us and of gbps

using Specs = std::map<std::string, std::vector<OptionSpec>>;

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Gives an error that knows no file its place.
template <typename Function>
auto at_place(const Node& node, const std::string& prefix, const Function& function) {
  try {
    return function();
  } catch (const InputError& error) {
    node.fail(prefix + error.what());
  }
}

std::string word(const Node& node, std::string_view kind, const std::vector<std::string>& choices) {
  const std::string text = node.as_string();
  if (!contains(choices, text)) node.fail(unknown_name(kind, text, choices));
  return text;
}

int small_integer(const Node& node, std::int64_t minimum, std::int64_t maximum) {
  return static_cast<int>(node.as_integer(minimum, maximum));
}

double above_zero(const Node& node, double maximum) {
  const double number = node.as_number(0, maximum);
  if (number == 0) node.fail(fmt::format("'{}' is not valid here, expected > 0", node.text()));
  return number;
}

Nanoseconds duration(const Node& node) {
  const std::string text = node.as_string();
  return at_place(node, "", [&] { return parse_duration(text); });
}

const std::vector<Node>& filled_list(const Node& node, std::string_view what) {
  const std::vector<Node>& list = node.as_list();
  if (list.empty()) node.fail(fmt::format("the list is empty, expected at least one {}", what));
  return list;
}

// `value` is about to join `values`, that came from the first nodes of `nodes`.
template <typename Value>
void refuse_repeated(const std::vector<Value>& values, const Value& value,
                     const std::vector<Node>& nodes, std::string_view what) {
  const auto before = std::find(values.begin(), values.end(), value);
  if (before == values.end()) return;
  const auto index = static_cast<std::size_t>(before - values.begin());
  nodes[values.size()].fail(
      fmt::format("this {} is already given at {}; keep one of them", what, nodes[index].where()));
}

std::filesystem::path existing_file(const Node& node, const std::filesystem::path& folder) {
  const std::string text = node.as_string();
  const auto path = (folder / text).lexically_normal();
  std::error_code unreadable;
  if (text.empty() || !std::filesystem::exists(path, unreadable)) {
    node.fail(fmt::format("there is no file '{}' (looked for {}; paths are relative to this file)",
                          excerpt(text), path.string()));
  }
  if (std::filesystem::is_directory(path, unreadable)) {
    node.fail(fmt::format("'{}' is a directory, expected a file", excerpt(text)));
  }
  return path;
}

std::string read_name(const Node& node) {
  const std::string name = node.as_string();
  constexpr std::size_t kLongest = 100;
  const bool fits = !name.empty() && name.size() <= kLongest && name.front() != '.' &&
                    std::all_of(name.begin(), name.end(), [](char c) {
                      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                             (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
                    });
  if (!fits) {
    node.fail(
        fmt::format("'{}' is not a name, expected letters, digits, '.', '_' and '-' (at most "
                    "{}), since it names files",
                    excerpt(name), kLongest));
  }
  return name;
}

WorkloadConfig read_workload(const Node& node, const std::filesystem::path& folder,
                             const ConfigVocabulary& vocabulary) {
  node.allow_keys({"model", "batch", "image_size", "sequence_length", "profile", "file"});
  WorkloadConfig workload;
  const auto model = node.find("model");
  const auto profile = node.find("profile");
  const auto file = node.find("file");
  if (int{model.has_value()} + int{profile.has_value()} + int{file.has_value()} != 1) {
    node.fail("expected exactly one of the keys model, profile, file in a workload");
  }
  if (model) {
    workload.model = word(*model, "model", vocabulary.models);
    workload.batch = node.at("batch").as_integer(1, kMaxBatch);
    if (auto size = node.find("image_size")) workload.image_size = size->as_integer(1, kMaxSize);
    if (auto length = node.find("sequence_length")) {
      workload.sequence_length = length->as_integer(1, kMaxSize);
    }
    return workload;
  }
  for (const auto& [key, value] : node.as_map()) {
    if (key.text() != "profile" && key.text() != "file") {
      key.fail(fmt::format("'{}' goes with model only: the {} brings its own", key.text(),
                           profile ? "profile" : "file"));
    }
  }
  if (profile) workload.profile = existing_file(*profile, folder);
  if (file) workload.file = existing_file(*file, folder);
  return workload;
}

OptionValue option_value(const Node& node) {
  const std::string& text = node.text();
  return node.quoted() ? OptionValue(text) : parse_value(text);
}

// What was given, checked; in the types of the specs.
Options read_options(const Node& node, const std::string& owner,
                     const std::vector<OptionSpec>& specs) {
  Options options;
  for (const auto& [key, value] : node.as_map()) {
    const std::string name = key.text();
    const bool known = std::any_of(specs.begin(), specs.end(),
                                   [&](const OptionSpec& spec) { return spec.name == name; });
    if (known && !value.is_scalar()) {
      value.fail(fmt::format("{}: option '{}' needs a single value", owner, name));
    }
    Options given;
    given.set(name, known ? option_value(value) : OptionValue());
    const Options complete =
        at_place(known ? value : key, owner + ": ", [&] { return resolve(specs, given); });
    options.set(name, complete.values().at(name));
  }
  return options;
}

ChoiceConfig read_choice(const Node& node, const std::string& kind, const Specs& known) {
  std::vector<std::string> ids;
  for (const auto& [id, specs] : known) ids.push_back(id);
  if (node.is_scalar()) return {word(node, kind, ids), {}};
  if (!node.is_map() || node.as_map().size() != 1) {
    node.fail(
        fmt::format("expected a {0} such as {1}, or one with options such as {{{1}: {{...}}}}",
                    kind, ids.empty() ? "NAME" : ids.front()));
  }
  const auto& [key, value] = node.as_map().front();
  const std::string id = word(key, kind, ids);
  return {id, read_options(value, fmt::format("{} '{}'", kind, id), known.at(id))};
}

std::vector<ChoiceConfig> read_choices(const Node& node, const std::string& kind,
                                       const Specs& known) {
  const std::vector<Node>& list = filled_list(node, kind);
  std::vector<ChoiceConfig> choices;
  std::vector<ChoiceConfig> complete;  // {ddp: {cap_bytes: 26214400}} is ddp once more
  for (const Node& entry : list) {
    choices.push_back(read_choice(entry, kind, known));
    const std::string& id = choices.back().id;
    ChoiceConfig resolved{id, resolve(known.at(id), choices.back().options)};
    refuse_repeated(complete, resolved, list, kind);
    complete.push_back(std::move(resolved));
  }
  return choices;
}

std::vector<int> read_ranks(const Node& node) {
  if (!node.is_list()) return {small_integer(node, 1, kMaxRanks)};
  const std::vector<Node>& list = filled_list(node, "number of ranks");
  std::vector<int> ranks;
  for (const Node& entry : list) {
    const int count = small_integer(entry, 1, kMaxRanks);
    refuse_repeated(ranks, count, list, "number of ranks");
    ranks.push_back(count);
  }
  return ranks;
}

RunConfig::Compute read_compute(const Node& node, const std::filesystem::path& folder,
                                const ConfigVocabulary& vocabulary) {
  node.allow_keys({"mode", "accelerator"});
  RunConfig::Compute compute;
  if (auto mode = node.find("mode")) compute.mode = word(*mode, "compute mode", {"timed", "gemm"});
  if (auto accelerator = node.find("accelerator")) {
    const std::string text = accelerator->as_string();
    const bool is_path = text.ends_with(".yaml");
    compute.accelerator = is_path ? existing_file(*accelerator, folder).string()
                                  : word(*accelerator, "accelerator", vocabulary.accelerators);
  }
  return compute;
}

RunConfig::Link read_link(const Node& node) {
  node.allow_keys({"a_us", "gbps"});
  return {node.at("a_us").as_number(0, kMaxLink), above_zero(node.at("gbps"), kMaxLink)};
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
  if (auto node = root.find("device")) config.device = word(*node, "device", vocabulary.devices);
  if (auto node = root.find("collective")) {
    config.collective = word(*node, "collective", vocabulary.collectives);
  }
  if (auto node = root.find("compute")) config.compute = read_compute(*node, folder, vocabulary);
  if (auto node = root.find("link")) config.link = read_link(*node);
  if (auto node = root.find("buffers")) config.buffers = word(*node, "buffers", {"slice", "copy"});
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
                   "collective", "compute", "link", "buffers", "iterations", "budget", "seed",
                   "deadline"});
  const std::filesystem::path folder = std::filesystem::absolute(source).parent_path();
  RunConfig config;
  config.source = source;
  config.name = read_name(root.at("name"));
  const Node workloads = root.at("workloads");
  for (const Node& entry : filled_list(workloads, "workload")) {
    const WorkloadConfig workload = read_workload(entry, folder, vocabulary);
    refuse_repeated(config.workloads, workload, workloads.as_list(), "workload");
    config.workloads.push_back(workload);
  }
  config.strategies = read_choices(root.at("strategies"), "strategy", vocabulary.strategies);
  if (auto node = root.find("compressors")) {
    config.compressors = read_choices(*node, "compressor", vocabulary.compressors);
  }
  if (auto node = root.find("ranks")) config.ranks = read_ranks(*node);
  read_settings(root, folder, vocabulary, config);
  refuse_too_many_cases(root, config);
  return config;
}

}  // namespace mergewise
