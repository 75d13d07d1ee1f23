// SPDX-License-Identifier: Apache-2.0
// Private to bench/config: the parts that run configs and simulation configs have in common. Every
// function throws InputError with the place of what is wrong.
#pragma once

#include "bench/config/run_config.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mergewise::detail {

using Specs = std::map<std::string, std::vector<OptionSpec>>;

/// Gives an error that knows no file its place.
template <typename Function>
auto at_place(const Node& node, const std::string& prefix, const Function& function) {
  try {
    return function();
  } catch (const InputError& error) {
    node.fail(prefix + error.what());
  }
}

[[nodiscard]] int small_integer(const Node& node, std::int64_t minimum, std::int64_t maximum);
[[nodiscard]] double above_zero(const Node& node, double maximum);
/// A list with at least one `what`; lives as long as the tree.
[[nodiscard]] const std::vector<Node>& filled_list(const Node& node, std::string_view what);

/// `value` is about to join `values`, that came from the first nodes of `nodes`.
template <typename Value>
void refuse_repeated(const std::vector<Value>& values, const Value& value,
                     const std::vector<Node>& nodes, std::string_view what) {
  const auto before = std::find(values.begin(), values.end(), value);
  if (before == values.end()) return;
  const auto index = static_cast<std::size_t>(before - values.begin());
  nodes[values.size()].fail(
      fmt::format("this {} is already given at {}; keep one of them", what, nodes[index].where()));
}

/// A list of at least one `what` without repetitions, each entry read by `read`.
template <typename Read>
auto read_distinct(const Node& node, std::string_view what, const Read& read) {
  const std::vector<Node>& list = filled_list(node, what);
  std::vector<decltype(read(node))> values;
  for (const Node& entry : list) {
    auto value = read(entry);
    refuse_repeated(values, value, list, what);
    values.push_back(std::move(value));
  }
  return values;
}

/// Absolute; a path in the config is relative to its folder.
[[nodiscard]] std::filesystem::path existing_file(const Node& node,
                                                  const std::filesystem::path& folder);
/// One of the ids, or the path of a .yaml file.
[[nodiscard]] std::string id_or_file(const Node& node, std::string_view kind,
                                     const std::vector<std::string>& ids,
                                     const std::filesystem::path& folder);
[[nodiscard]] std::string read_name(const Node& node);
[[nodiscard]] std::vector<WorkloadConfig> read_workloads(const Node& node,
                                                         const std::filesystem::path& folder,
                                                         const ConfigVocabulary& vocabulary);
/// Strategies or compressors, none of them twice.
[[nodiscard]] std::vector<ChoiceConfig> read_choices(const Node& node, const std::string& kind,
                                                     const Specs& known);
/// The same of compressors, whose options go together.
[[nodiscard]] std::vector<ChoiceConfig> read_compressors(const Node& node,
                                                         const ConfigVocabulary& vocabulary);
[[nodiscard]] std::vector<int> read_ranks(const Node& node);

/// In the config file's own form.
[[nodiscard]] nlohmann::json workload_json(const WorkloadConfig& workload);
[[nodiscard]] nlohmann::json choice_json(const ChoiceConfig& choice);
template <typename Value>
[[nodiscard]] nlohmann::json json_list(const std::vector<Value>& values,
                                       nlohmann::json (*to_json)(const Value&)) {
  nlohmann::json list = nlohmann::json::array();
  for (const Value& value : values) list.push_back(to_json(value));
  return list;
}

}  // namespace mergewise::detail
