// SPDX-License-Identifier: Apache-2.0
// A parsed YAML or JSON file in which every value knows its line and column, so that every error
// can name the place.
#pragma once

#include "bench/core/error.hpp"
#include "bench/core/units.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mergewise {

/// One value of a parsed file: a scalar, a list or a map. Immutable; may be read by many threads.
///
/// A copy shares the parsed tree and keeps it alive. References into the tree (as_list, as_map,
/// text) live as long as any such node, so hold the root in a variable while looping over them.
///
/// All as_* and lookup functions throw InputError "FILE:LINE:COLUMN: 'TEXT' ..., expected ..." when
/// the value is not what they ask for.
class Node {
 public:
  enum class Kind { kNull, kScalar, kList, kMap };

  [[nodiscard]] Kind kind() const;
  [[nodiscard]] bool is_null() const { return kind() == Kind::kNull; }
  [[nodiscard]] bool is_scalar() const { return kind() == Kind::kScalar; }
  [[nodiscard]] bool is_list() const { return kind() == Kind::kList; }
  [[nodiscard]] bool is_map() const { return kind() == Kind::kMap; }

  [[nodiscard]] const std::string& text() const;  ///< a scalar as written, quotes removed
  [[nodiscard]] bool quoted() const;  ///< a scalar that was quoted is a word, never a number
  [[nodiscard]] std::string as_string() const;  ///< any scalar
  [[nodiscard]] bool as_bool() const;           ///< true | false
  /// Decimal; 1e6 is an integer too.
  [[nodiscard]] std::int64_t as_integer(std::int64_t minimum = INT64_MIN,
                                        std::int64_t maximum = INT64_MAX) const;
  [[nodiscard]] double as_number(double minimum,
                                 double maximum) const;  ///< finite, in [minimum, maximum]
  [[nodiscard]] const std::vector<Node>& as_list() const;
  /// The entries of a map in file order. Keys are unique: duplicates were refused by the parser.
  [[nodiscard]] const std::vector<std::pair<Node, Node>>& as_map() const;

  /// The value of a key; the first form throws when it is missing (naming the key), the second
  /// gives nothing.
  [[nodiscard]] Node at(std::string_view key) const;
  [[nodiscard]] std::optional<Node> find(std::string_view key) const;
  /// Throws for the first key that is not one of these, with the valid keys and the nearest match.
  void allow_keys(const std::vector<std::string>& keys) const;

  /// "FILE:LINE:COLUMN"
  [[nodiscard]] std::string where() const;
  /// Throws InputError "WHERE: MESSAGE".
  [[noreturn]] void fail(const std::string& message) const;

  struct Data;  // defined in document.hpp, as is all that makes nodes
  explicit Node(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
  Node(const Node& other);
  Node& operator=(const Node& other);
  Node(Node&&) noexcept = default;
  Node& operator=(Node&&) noexcept = default;
  ~Node() = default;

 private:
  // Owns the tree, except in the nodes that the tree itself holds.
  std::shared_ptr<const Data> data_;
};

/// Limits of what is read: larger or deeper input is refused before it costs anything.
struct ParseLimits {
  Bytes max_bytes = Bytes{1} << 20;
  int max_depth = 64;
};
inline constexpr ParseLimits kConfigLimits{};
/// Profiles and results may be big (a million tensors); only JSON is read beyond 8 MiB, since YAML
/// would take minutes.
inline constexpr ParseLimits kDataLimits{Bytes{1} << 30, 64};

/// A whole file as it is. Throws InputError naming it: unreadable, a directory, larger than the
/// limit (of which no more is read than needed to know).
[[nodiscard]] std::string read_file(const std::filesystem::path& file, const ParseLimits& limits);

/// Reads a file: JSON when its name ends in .json or when its first character is '{' or '[' and it
/// parses as JSON, else YAML (one document, no anchors, no tags; UTF-8). An empty file is null.
/// Lines and columns count from 1, columns in bytes. Throws InputError: unreadable, too large, too
/// deep, duplicate key, syntax (all with line and column where there is one).
[[nodiscard]] Node parse_file(const std::filesystem::path& file, const ParseLimits& limits);
/// The same for text; `name` stands for the file in messages.
[[nodiscard]] Node parse_text(std::string_view text, const std::string& name,
                              const ParseLimits& limits);

}  // namespace mergewise
