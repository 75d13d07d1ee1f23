// SPDX-License-Identifier: Apache-2.0
// All strategies by id.
#pragma once

#include "bench/strategies/strategy.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mergewise {

/// The ids in the order in which lists show them.
[[nodiscard]] std::vector<std::string> strategy_ids();

/// A new strategy. Throws InputError for an unknown id, with the valid ones and the nearest match.
[[nodiscard]] std::unique_ptr<Strategy> make_strategy(std::string_view id);

}  // namespace mergewise
