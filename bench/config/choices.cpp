// SPDX-License-Identifier: Apache-2.0
#include "bench/config/choices.hpp"

#include "bench/core/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

namespace mergewise {
namespace {

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

OptionValue option_value(const Node& node) {
  const std::string& text = node.text();
  return node.quoted() ? OptionValue(text) : parse_value(text);
}

}  // namespace

std::string one_of(const Node& node, std::string_view kind,
                   const std::vector<std::string>& choices) {
  const std::string text = node.as_string();
  if (!contains(choices, text)) node.fail(unknown_name(kind, text, choices));
  return text;
}

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
    try {
      options.set(name, resolve(specs, given).values().at(name));
    } catch (const InputError& error) {
      (known ? value : key).fail(owner + ": " + error.what());
    }
  }
  return options;
}

std::vector<std::string> yaml_ids(const std::filesystem::path& folder, std::string_view kind) {
  std::error_code error;
  std::vector<std::string> ids;
  const std::filesystem::directory_iterator files(folder, error);
  if (error) {
    throw InputError(fmt::format("{}: cannot list the {}s ({}), expected a folder of YAML files",
                                 folder.string(), kind, error.message()));
  }
  for (const auto& file : files) {
    if (file.path().extension() == ".yaml") ids.push_back(file.path().stem().string());
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::filesystem::path yaml_file(const std::string& id, const std::filesystem::path& folder,
                                std::string_view kind) {
  if (std::filesystem::path(id).extension() == ".yaml") return id;
  const std::vector<std::string> ids = yaml_ids(folder, kind);
  if (!contains(ids, id)) throw InputError(unknown_name(kind, id, ids));
  return folder / (id + ".yaml");
}

}  // namespace mergewise
