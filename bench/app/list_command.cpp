// SPDX-License-Identifier: Apache-2.0
// `mergewise list`: what this build knows.
#include "bench/app/commands.hpp"
#include "bench/app/compressors.hpp"
#include "bench/app/data_folder.hpp"
#include "bench/app/table.hpp"
#include "bench/app/vocabulary.hpp"
#include "bench/cost/cluster.hpp"
#include "bench/strategies/registry.hpp"
#include "workloads/model.hpp"
#include "workloads/workload.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <memory>

namespace mergewise {
namespace {

struct Entry {
  std::string kind;
  std::string id;
  std::string summary;
  std::vector<OptionSpec> options;
};

std::vector<Entry> entries(const std::string& kind) {
  const ConfigVocabulary words = vocabulary();
  std::vector<Entry> all;
  for (const std::string& id : strategy_ids()) {
    const auto strategy = make_strategy(id);
    all.push_back({"strategies", id, strategy->summary(), strategy->options()});
  }
  for (const std::string& id : words.models) {
    const Model model = build_model(id);
    all.push_back(
        {"models",
         id,
         fmt::format("{} tensors, {:.1f} M parameters, {:.2f} GMAC a sample", model.tensors.size(),
                     static_cast<double>(model.total_parameters()) / 1e6,
                     static_cast<double>(model.total_macs()) / 1e9),
         {}});
  }
  for (const std::string& id : words.accelerators) {
    all.push_back(
        {"accelerators", id, load_accelerator(id, accelerators_folder()).description, {}});
  }
  for (const std::string& id : cluster_ids(clusters_folder())) {
    all.push_back({"clusters", id, load_cluster(id, clusters_folder()).description, {}});
  }
  for (const CompressorEntry& entry : compressors()) {
    all.push_back({"compressors", entry.id, entry.summary, entry.options});
  }
  for (const std::string& id : words.devices) all.push_back({"devices", id, "the processor", {}});
  for (const std::string& id : words.collectives) {
    all.push_back({"collectives", id, "Gloo over TCP", {}});
  }
  if (kind != "all") std::erase_if(all, [&](const Entry& entry) { return entry.kind != kind; });
  return all;
}

std::string options_text(const std::vector<OptionSpec>& options) {
  std::string text;
  for (const OptionSpec& option : options) {
    const std::string value = to_string(option.default_value);
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", option.name, value);
    for (const std::string& choice : option.choices) {
      if (choice != value) text += "|" + choice;
    }
  }
  return text;
}

ExitCode list(const std::string& kind, const std::string& format) {
  const auto all = entries(kind);
  if (format == "json") {
    nlohmann::json document = nlohmann::json::object();
    for (const Entry& entry : all) {
      nlohmann::json options = nlohmann::json::array();
      for (const OptionSpec& option : entry.options) {
        options.push_back({{"name", option.name},
                           {"summary", option.summary},
                           {"default", to_string(option.default_value)},
                           {"choices", option.choices}});
      }
      document[entry.kind].push_back(
          {{"id", entry.id}, {"summary", entry.summary}, {"options", options}});
    }
    fmt::print("{}\n", document.dump(2));
    return ExitCode::kOk;
  }
  std::vector<std::vector<std::string>> rows;
  for (const Entry& entry : all) {
    rows.push_back({entry.kind, entry.id, entry.summary, options_text(entry.options)});
  }
  fmt::print("{}",
             format_table({"kind", "id", "what it is", "options: defaults|other words"}, rows, 4));
  return ExitCode::kOk;
}

}  // namespace

void add_list_command(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand(
      "list", "Show the strategies, models, accelerators, clusters, compressors and back ends");
  const auto kind = std::make_shared<std::string>("all");
  const auto format = std::make_shared<std::string>("table");
  command->add_option("KIND", *kind, "Only this kind")
      ->check(CLI::IsMember({"all", "strategies", "models", "accelerators", "clusters",
                             "compressors", "devices", "collectives"}))
      ->capture_default_str();
  add_format_option(*command, *format);
  command->callback(
      [&action, kind, format] { action = [kind, format] { return list(*kind, *format); }; });
}

}  // namespace mergewise
