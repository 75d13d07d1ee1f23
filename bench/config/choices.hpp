// SPDX-License-Identifier: Apache-2.0
// What is chosen by name: a word from a list, a description from a folder of YAML files.
#pragma once

#include "bench/config/node.hpp"
#include "bench/core/options.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace mergewise {

/// The node's text, which must be one of the choices: throws InputError with them and the node's
/// place else. `kind` is what the message calls them, as below: "cluster".
[[nodiscard]] std::string one_of(const Node& node, std::string_view kind,
                                 const std::vector<std::string>& choices);

/// What a map gives of these options, checked, in the types of the specs; every error names the
/// place. `owner` is whose they are, for messages: "strategy 'ddp'".
[[nodiscard]] Options read_options(const Node& node, const std::string& owner,
                                   const std::vector<OptionSpec>& specs);

/// The ids of a folder's descriptions (ID.yaml), sorted. Throws InputError when it cannot be
/// listed.
[[nodiscard]] std::vector<std::string> yaml_ids(const std::filesystem::path& folder,
                                                std::string_view kind);

/// The file of `id` in the folder; a path that ends in .yaml is its own. Throws InputError with the
/// ids that exist.
[[nodiscard]] std::filesystem::path yaml_file(const std::string& id,
                                              const std::filesystem::path& folder,
                                              std::string_view kind);

}  // namespace mergewise
