// SPDX-License-Identifier: Apache-2.0
#include "bench/config/config_readers.hpp"

#include "bench/config/choices.hpp"
#include "bench/core/text.hpp"

#include <fmt/format.h>

#include <system_error>

namespace mergewise::detail {
namespace {

constexpr std::int64_t kMaxRanks = 65'536;
constexpr std::int64_t kMaxBatch = 1 << 20;
constexpr std::int64_t kMaxSize = 1 << 16;  // of an image's side or a sequence

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
    workload.model = one_of(*model, "model", vocabulary.models);
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

ChoiceConfig read_choice(const Node& node, const std::string& kind, const Specs& known) {
  std::vector<std::string> ids;
  for (const auto& [id, specs] : known) ids.push_back(id);
  if (node.is_scalar()) return {one_of(node, kind, ids), {}};
  if (!node.is_map() || node.as_map().size() != 1) {
    node.fail(
        fmt::format("expected a {0} such as {1}, or one with options such as {{{1}: {{...}}}}",
                    kind, ids.empty() ? "NAME" : ids.front()));
  }
  const auto& [key, value] = node.as_map().front();
  const std::string id = one_of(key, kind, ids);
  return {id, read_options(value, fmt::format("{} '{}'", kind, id), known.at(id))};
}

}  // namespace

int small_integer(const Node& node, std::int64_t minimum, std::int64_t maximum) {
  return static_cast<int>(node.as_integer(minimum, maximum));
}

double above_zero(const Node& node, double maximum) {
  const double number = node.as_number(0, maximum);
  if (number == 0) node.fail(fmt::format("'{}' is not valid here, expected > 0", node.text()));
  return number;
}

const std::vector<Node>& filled_list(const Node& node, std::string_view what) {
  const std::vector<Node>& list = node.as_list();
  if (list.empty()) node.fail(fmt::format("the list is empty, expected at least one {}", what));
  return list;
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

std::vector<ChoiceConfig> read_compressors(const Node& node, const ConfigVocabulary& vocabulary) {
  std::vector<ChoiceConfig> choices = read_choices(node, "compressor", vocabulary.compressors);
  if (!vocabulary.check_compressor) return choices;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    at_place(node.as_list()[i], "", [&] {
      vocabulary.check_compressor(choices[i]);
      return true;
    });
  }
  return choices;
}

std::vector<int> read_ranks(const Node& node) {
  if (!node.is_list()) return {small_integer(node, 1, kMaxRanks)};
  return read_distinct(node, "number of ranks",
                       [](const Node& entry) { return small_integer(entry, 1, kMaxRanks); });
}

std::vector<WorkloadConfig> read_workloads(const Node& node, const std::filesystem::path& folder,
                                           const ConfigVocabulary& vocabulary) {
  return read_distinct(node, "workload",
                       [&](const Node& entry) { return read_workload(entry, folder, vocabulary); });
}

std::string id_or_file(const Node& node, std::string_view kind, const std::vector<std::string>& ids,
                       const std::filesystem::path& folder) {
  return node.as_string().ends_with(".yaml") ? existing_file(node, folder).string()
                                             : one_of(node, kind, ids);
}

}  // namespace mergewise::detail
