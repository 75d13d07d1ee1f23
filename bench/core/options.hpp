// SPDX-License-Identifier: Apache-2.0
// Named, typed options (of strategies, later of compressors): declared once, used by YAML, CLI,
// --help and JSON alike.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace mergewise {

using OptionValue = std::variant<std::int64_t, double, std::string>;

enum class OptionKind { kInteger, kNumber, kWord };

/// What an option is called, what it may be, and what it is when nobody says.
struct OptionSpec {
  std::string name;  ///< e.g. "cap_bytes": the id in YAML, CLI and JSON
  OptionKind kind;
  std::string summary;        ///< one line for --help
  OptionValue default_value;  ///< of the kind, or one of the choices
  double minimum = 0;         ///< of a number, inclusive
  double maximum = 9.0e18;    ///< of a number, inclusive
  std::vector<std::string>
      choices;  ///< of a word; for a number: words accepted beside it, e.g. "auto" or "all"
};

/// Values by option name. A plain map: what was given, or after resolve() the full set.
class Options {
 public:
  Options() = default;
  explicit Options(std::map<std::string, OptionValue> values) : values_(std::move(values)) {}

  void set(const std::string& name, OptionValue value) { values_[name] = std::move(value); }
  [[nodiscard]] bool contains(const std::string& name) const { return values_.contains(name); }
  /// These throw std::logic_error when the option is absent or of another type: resolve() first.
  [[nodiscard]] std::int64_t integer(const std::string& name) const;
  [[nodiscard]] double number(const std::string& name) const;
  [[nodiscard]] const std::string& word(const std::string& name) const;
  /// True when the option's value is this word (e.g. "auto").
  [[nodiscard]] bool is_word(const std::string& name, std::string_view value) const;
  [[nodiscard]] const std::map<std::string, OptionValue>& values() const { return values_; }

  friend bool operator==(const Options&, const Options&) = default;

 private:
  std::map<std::string, OptionValue> values_;
};

/// Checks one value against its spec and gives it the spec's type (an integer is a fine double).
/// Throws InputError: wrong type, out of range, not a valid choice.
[[nodiscard]] OptionValue checked_value(const OptionSpec& spec, const OptionValue& value);

/// `given` checked, completed with defaults. Throws InputError for a name no spec has (with the
/// valid names).
[[nodiscard]] Options resolve(std::span<const OptionSpec> specs, const Options& given);

/// Reads text as an option value: an integer, else a number, else a word.
[[nodiscard]] OptionValue parse_value(std::string_view text);

/// A command line's "name=value". Throws InputError when there is no '='.
[[nodiscard]] std::pair<std::string, OptionValue> parse_assignment(std::string_view text);

/// The value as text, as a user would write it.
[[nodiscard]] std::string to_string(const OptionValue& value);

}  // namespace mergewise
