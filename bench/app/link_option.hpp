// SPDX-License-Identifier: Apache-2.0
// `--link A_US,GBPS` of the commands that can measure over an emulated link.
#pragma once

#include "bench/collective/emulated_link.hpp"

#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace mergewise {

void add_link_option(CLI::App& command, std::string& link);

/// "8000,2.5": a in us, 1e9 bit/s. Nothing for "". Throws InputError.
[[nodiscard]] std::optional<LinkModel> parse_link(const std::string& text);

}  // namespace mergewise
