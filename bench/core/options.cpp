// SPDX-License-Identifier: Apache-2.0
#include "bench/core/options.hpp"

#include "bench/core/error.hpp"
#include "bench/core/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace mergewise {
namespace {

template <typename T>
const T& typed(const std::map<std::string, OptionValue>& values, const std::string& name) {
  const auto found = values.find(name);
  MERGEWISE_CHECK(found != values.end(), "option '" + name + "' was not resolved");
  const T* value = std::get_if<T>(&found->second);
  MERGEWISE_CHECK(value != nullptr, "option '" + name + "' has another type");
  return *value;
}

std::string expected_text(const OptionSpec& spec) {
  const std::string words = join(spec.choices, " | ");
  if (spec.kind == OptionKind::kWord) return words;
  const char* kind = spec.kind == OptionKind::kNumber ? "a number" : "an integer";
  std::string range = fmt::format("{} >= {}", kind, spec.minimum);
  if (spec.maximum < 9.0e18) {
    range = spec.minimum == spec.maximum
                ? fmt::format("{}", spec.minimum)
                : fmt::format("{} from {} to {}", kind, spec.minimum, spec.maximum);
  }
  return words.empty() ? range : range + " or " + words;
}

[[noreturn]] void reject(const OptionSpec& spec, const OptionValue& value) {
  throw InputError(fmt::format("option '{}' is '{}', expected {}", spec.name, to_string(value),
                               expected_text(spec)));
}

bool is_choice(const OptionSpec& spec, const std::string& word) {
  return std::find(spec.choices.begin(), spec.choices.end(), word) != spec.choices.end();
}

}  // namespace

std::int64_t Options::integer(const std::string& name) const {
  return typed<std::int64_t>(values_, name);
}
double Options::number(const std::string& name) const { return typed<double>(values_, name); }
const std::string& Options::word(const std::string& name) const {
  return typed<std::string>(values_, name);
}

bool Options::is_word(const std::string& name, std::string_view value) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return false;
  const auto* word = std::get_if<std::string>(&found->second);
  return word != nullptr && *word == value;
}

OptionValue checked_value(const OptionSpec& spec, const OptionValue& value) {
  if (const auto* word = std::get_if<std::string>(&value)) {
    if (!is_choice(spec, *word)) reject(spec, value);
    return value;
  }
  const auto* integer = std::get_if<std::int64_t>(&value);
  const double number =
      integer != nullptr ? static_cast<double>(*integer) : std::get<double>(value);
  const bool in_range = number >= spec.minimum && number <= spec.maximum;
  if (spec.kind == OptionKind::kWord || !in_range) reject(spec, value);
  if (spec.kind == OptionKind::kNumber) return number;
  if (integer != nullptr) return value;
  // An integer option takes 1e6 too, but not 1.5.
  if (number != std::floor(number)) reject(spec, value);
  return static_cast<std::int64_t>(number);
}

Options resolve(std::span<const OptionSpec> specs, const Options& given) {
  Options resolved;
  for (const OptionSpec& spec : specs) resolved.set(spec.name, spec.default_value);
  for (const auto& [name, value] : given.values()) {
    const auto spec = std::find_if(
        specs.begin(), specs.end(),
        [&wanted = name](const OptionSpec& candidate) { return candidate.name == wanted; });
    if (spec == specs.end()) {
      std::vector<std::string> names;
      for (const OptionSpec& candidate : specs) names.push_back(candidate.name);
      throw InputError(names.empty() ? fmt::format("unknown option '{}', none is known here", name)
                                     : unknown_name("option", name, names));
    }
    resolved.set(name, checked_value(*spec, value));
  }
  return resolved;
}

OptionValue parse_value(std::string_view text) {
  const char* const end = text.data() + text.size();
  std::int64_t integer = 0;
  if (auto [rest, error] = std::from_chars(text.data(), end, integer);
      error == std::errc{} && rest == end) {
    return integer;
  }
  double number = 0;
  if (auto [rest, error] = std::from_chars(text.data(), end, number);
      error == std::errc{} && rest == end && std::isfinite(number)) {
    return number;
  }
  return std::string(text);
}

std::pair<std::string, OptionValue> parse_assignment(std::string_view text) {
  const std::size_t split = text.find('=');
  if (split == std::string_view::npos || split == 0) {
    throw InputError(fmt::format("option '{}' is not of the form name=value", text));
  }
  return {std::string(text.substr(0, split)), parse_value(text.substr(split + 1))};
}

std::string to_string(const OptionValue& value) {
  return std::visit([](const auto& held) { return fmt::format("{}", held); }, value);
}

}  // namespace mergewise
