// SPDX-License-Identifier: Apache-2.0
// Private to workloads: the layers of a user's model file, and what its two readers share.
#pragma once

#include "bench/config/node.hpp"
#include "workloads/model.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace mergewise::detail {

inline constexpr std::int64_t kMaxElements = std::int64_t{1} << 40;

/// A word that is not empty.
[[nodiscard]] std::string name_from(const Node& node);
/// Sizes of 0 or more that make no more than kMaxElements.
[[nodiscard]] std::vector<std::int64_t> shape_from(const Node& node);

/// Appends the layers to a model that has its tensors. Every tensor must belong to one layer, and a
/// layer may share only tensors of earlier layers. Throws InputError with file, line and column.
void read_layers(const Node& list, Model& model);

}  // namespace mergewise::detail
