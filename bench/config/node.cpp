// SPDX-License-Identifier: Apache-2.0
#include "bench/config/node.hpp"

#include "bench/config/document.hpp"
#include "bench/core/text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace mergewise {
namespace {

const char* describe(Node::Kind kind) {
  switch (kind) {
    case Node::Kind::kNull:
      return "an empty value";
    case Node::Kind::kScalar:
      return "a single value";
    case Node::Kind::kList:
      return "a list";
    case Node::Kind::kMap:
      return "a map";
  }
  return "?";
}

// "'12abc' is not valid here" for a scalar, "a list is not valid here" for the rest.
[[noreturn]] void unexpected(const Node& node, const std::string& expected) {
  const std::string what =
      node.is_scalar()
          ? fmt::format("{}'{}'", node.quoted() ? "the text " : "", excerpt(node.text()))
          : std::string(describe(node.kind()));
  node.fail(fmt::format("{} is not valid here, expected {}", what, expected));
}

// Leading zeros mean octal to some YAML readers, so they mean nothing to us.
bool has_leading_zero(std::string_view text) {
  if (!text.empty() && text.front() == '-') text.remove_prefix(1);
  return text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9';
}

template <typename Number>
std::optional<Number> whole_text_as(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || rest != end || has_leading_zero(text)) return std::nullopt;
  return number;
}

std::optional<double> number_of(const Node& node) {
  if (!node.is_scalar() || node.quoted()) return std::nullopt;
  const auto number = whole_text_as<double>(node.text());
  if (!number || !std::isfinite(*number)) return std::nullopt;
  return number;
}

std::optional<std::int64_t> integer_of(const Node& node) {
  const auto number = number_of(node);
  if (!number) return std::nullopt;
  if (const auto integer = whole_text_as<std::int64_t>(node.text())) return integer;
  constexpr double kTooLarge = 9223372036854775808.0;  // 2^63
  if (*number != std::floor(*number) || std::abs(*number) >= kTooLarge) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

std::string integer_range(std::int64_t minimum, std::int64_t maximum) {
  if (minimum == INT64_MIN && maximum == INT64_MAX) return "an integer";
  if (maximum == INT64_MAX) return fmt::format("an integer >= {}", minimum);
  return fmt::format("an integer from {} to {}", minimum, maximum);
}

std::string number_range(double minimum, double maximum) {
  const bool below = minimum > -1e300;
  const bool above = maximum < 1e300;
  if (below && above) return fmt::format("a number from {} to {}", minimum, maximum);
  if (below) return fmt::format("a number >= {}", minimum);
  if (above) return fmt::format("a number <= {}", maximum);
  return "a finite number";
}

}  // namespace

Node::Node(const Node& other) {
  if (other.data_ != nullptr) data_ = {other.data_->document->shared_from_this(), &*other.data_};
}

Node& Node::operator=(const Node& other) {
  if (this != &other) *this = Node(other);
  return *this;
}

Node::Kind Node::kind() const {
  if (std::holds_alternative<const std::string*>(data_->value)) return Kind::kScalar;
  if (std::holds_alternative<const detail::NodeList*>(data_->value)) return Kind::kList;
  if (std::holds_alternative<const detail::NodeMap*>(data_->value)) return Kind::kMap;
  return Kind::kNull;
}

const std::string& Node::text() const {
  if (!is_scalar()) unexpected(*this, "a single value");
  return *std::get<const std::string*>(data_->value);
}

bool Node::quoted() const { return data_->quoted; }

std::string Node::as_string() const { return text(); }

bool Node::as_bool() const {
  const bool plain = is_scalar() && !quoted();
  if (plain && text() == "true") return true;
  if (plain && text() == "false") return false;
  unexpected(*this, "true or false");
}

std::int64_t Node::as_integer(std::int64_t minimum, std::int64_t maximum) const {
  const auto integer = integer_of(*this);
  if (!integer || *integer < minimum || *integer > maximum) {
    unexpected(*this, integer_range(minimum, maximum));
  }
  return *integer;
}

double Node::as_number(double minimum, double maximum) const {
  const auto number = number_of(*this);
  if (!number || *number < minimum || *number > maximum) {
    unexpected(*this, number_range(minimum, maximum));
  }
  return *number;
}

const std::vector<Node>& Node::as_list() const {
  if (!is_list()) unexpected(*this, "a list");
  return *std::get<const detail::NodeList*>(data_->value);
}

const std::vector<std::pair<Node, Node>>& Node::as_map() const {
  if (!is_map()) unexpected(*this, "a map");
  return *std::get<const detail::NodeMap*>(data_->value);
}

Node Node::at(std::string_view key) const {
  if (auto found = find(key)) return *found;
  fail(fmt::format("the key '{}' is missing here", key));
}

std::optional<Node> Node::find(std::string_view key) const {
  for (const auto& [name, value] : as_map()) {
    if (name.text() == key) return value;
  }
  return std::nullopt;
}

void Node::allow_keys(const std::vector<std::string>& keys) const {
  for (const auto& [name, value] : as_map()) {
    bool known = false;
    for (const std::string& key : keys) known = known || key == name.text();
    if (!known) name.fail(unknown_name("key", name.text(), keys));
  }
}

std::string Node::where() const {
  const detail::Place place = data_->place;
  return fmt::format("{}:{}:{}", data_->document->name, place.line, place.column);
}

void Node::fail(const std::string& message) const {
  detail::fail_at(data_->document->name, data_->place, message);
}

}  // namespace mergewise
