// SPDX-License-Identifier: Apache-2.0
#include "bench/config/run_config.hpp"
#include "bench/core/text.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

namespace mergewise {
namespace {

struct Unit {
  std::string_view name;
  Nanoseconds size;
};
constexpr std::array<Unit, 5> kUnits{
    {{"", 1e9}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}}};
constexpr Nanoseconds kLongest = 10000 * 3600e9;

}  // namespace

Nanoseconds parse_duration(const std::string& text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc{} && std::isfinite(number)) {
    const std::string_view suffix(rest, static_cast<std::size_t>(end - rest));
    for (const Unit& unit : kUnits) {
      const Nanoseconds duration = number * unit.size;
      if (suffix == unit.name && duration > 0 && duration <= kLongest) return duration;
    }
  }
  throw InputError(fmt::format(
      "'{}' is not a duration, expected a number above 0 with ms, s, m or h, such as 150s or "
      "1.5h, and at most 10000h",
      excerpt(text)));
}

}  // namespace mergewise
