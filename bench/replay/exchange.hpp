// SPDX-License-Identifier: Apache-2.0
// Numbers as bytes for the control plane. All ranks of a run are of one architecture.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace mergewise {

template <typename T>
requires std::is_trivially_copyable_v<T>
[[nodiscard]] std::string to_bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

template <typename T>
requires std::is_trivially_copyable_v<T>
[[nodiscard]] std::vector<T> from_bytes(std::string_view bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  bytes.copy(reinterpret_cast<char*>(values.data()), values.size() * sizeof(T));
  return values;
}

}  // namespace mergewise
