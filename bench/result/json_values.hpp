// SPDX-License-Identifier: Apache-2.0
// What is not known is null in every document.
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string_view>

namespace mergewise {

template <typename T>
[[nodiscard]] nlohmann::json or_null(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

/// null for "".
[[nodiscard]] inline nlohmann::json text_or_null(std::string_view text) {
  return text.empty() ? nlohmann::json(nullptr) : nlohmann::json(text);
}

}  // namespace mergewise
