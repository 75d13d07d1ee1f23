// SPDX-License-Identifier: Apache-2.0
#include "workloads/model_file.hpp"

#include "bench/core/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace mergewise::detail {
namespace {

struct Unit {
  const char* suffix;
  double nanoseconds;
};
constexpr std::array<Unit, 3> kUnits{{{"_ns", 1}, {"_us", 1e3}, {"_ms", 1e6}}};

}  // namespace

std::string name_from(const Node& node) {
  std::string name = node.as_string();
  if (name.empty()) {
    node.fail("'' is empty, expected a name");
  }
  // They would break tables, and could steer a terminal.
  if (std::any_of(name.begin(), name.end(),
                  [](unsigned char c) { return c < 0x20 || c == 0x7f; })) {
    node.fail("'" + excerpt(name) + "' has control characters, expected a name without");
  }
  return name;
}

std::vector<std::int64_t> shape_from(const Node& node) {
  std::vector<std::int64_t> shape;
  std::int64_t elements = 1;
  for (const Node& size : node.as_list()) {
    shape.push_back(size.as_integer(0, kMaxElements));
    if (shape.back() > 0 && elements > kMaxElements / shape.back()) {
      size.fail("the shape has more than 2^40 elements, expected a smaller one");
    }
    elements *= shape.back();
  }
  return shape;
}

std::optional<Timed> find_timed(const Node& node, const std::string& key) {
  std::optional<Timed> found;
  for (const Unit& unit : kUnits) {
    if (const auto value = node.find(key + unit.suffix)) {
      if (found) {
        value->fail(fmt::format("a second {0} time, expected one of {0}_ns, {0}_us, {0}_ms", key));
      }
      found = Timed{*value, unit.nanoseconds};
    }
  }
  return found;
}

Nanoseconds time_of(const Node& value, double unit_ns) {
  return value.as_number(0, kMaxTime / unit_ns) * unit_ns;
}

std::optional<Nanoseconds> find_time(const Node& node, const std::string& key) {
  const auto found = find_timed(node, key);
  if (!found) {
    return std::nullopt;
  }
  return time_of(found->value, found->unit_ns);
}

Nanoseconds time_from(const Node& node, const std::string& key) {
  const auto time = find_time(node, key);
  if (!time) {
    node.fail(fmt::format("missing {0}_ns (or {0}_us, {0}_ms)", key));
  }
  return *time;
}

}  // namespace mergewise::detail
