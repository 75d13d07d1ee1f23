// SPDX-License-Identifier: Apache-2.0
// Private to workloads: what every reader of models and measured times shares: limits, names,
// shapes and times.
#pragma once

#include "bench/config/node.hpp"
#include "bench/core/units.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mergewise::detail {

// Beyond any training, and small enough that no sum or product of them overflows.
inline constexpr std::int64_t kMaxElements = std::int64_t{1} << 40;  // of one tensor
inline constexpr Bytes kMaxTotalBytes = Bytes{1} << 50;
inline constexpr Nanoseconds kMaxTime = 1e15;

/// A word that is not empty, without control characters.
[[nodiscard]] std::string name_from(const Node& node);
/// Sizes of 0 or more that make no more than kMaxElements.
[[nodiscard]] std::vector<std::int64_t> shape_from(const Node& node);

/// The one of KEY_ns, KEY_us, KEY_ms that is there: its value, and nanoseconds for each of its
/// unit. Throws InputError where there are two.
struct Timed {
  Node value;
  double unit_ns;
};
[[nodiscard]] std::optional<Timed> find_timed(const Node& node, const std::string& key);
/// A time of 0 to kMaxTime.
[[nodiscard]] Nanoseconds time_of(const Node& value, double unit_ns);
[[nodiscard]] std::optional<Nanoseconds> find_time(const Node& node, const std::string& key);
/// Throws InputError where there is none.
[[nodiscard]] Nanoseconds time_from(const Node& node, const std::string& key);

}  // namespace mergewise::detail
