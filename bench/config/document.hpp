// SPDX-License-Identifier: Apache-2.0
// Private to bench/config: the storage behind Node, and the builder that both readers (YAML, JSON)
// feed with what they meet.
#pragma once

#include "bench/config/node.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

namespace mergewise::detail {

/// A place in the file, both numbers from 1; the column counts bytes.
struct Place {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};

using NodeList = std::vector<Node>;
using NodeMap = std::vector<std::pair<Node, Node>>;

/// Everything that one file holds; each a deque, since nodes point at the elements; a value costs
/// 40 bytes and its text, so that a profile of a million tensors stays in memory easily.
struct Document : std::enable_shared_from_this<Document> {
  std::string name;  ///< the file's, for messages
  std::deque<Node::Data> values;
  std::deque<std::string> texts;
  std::unordered_set<std::string> keys;  ///< each spelling once: a long list repeats few keys
  std::deque<NodeList> lists;
  std::deque<NodeMap> maps;
};

/// Throws InputError "NAME:LINE:COLUMN: MESSAGE".
[[noreturn]] void fail_at(const std::string& name, Place place, const std::string& message);

/// Makes the tree from the values in file order. Throws InputError for too deep nesting, a key that
/// is no word, and a key that comes twice in one map.
class TreeBuilder {
 public:
  TreeBuilder(std::string name, int max_depth);

  void null(Place place);
  void scalar(Place place, std::string text, bool quoted);
  void start_list(Place place) { start(place, false); }
  void start_map(Place place) { start(place, true); }
  void end();  ///< of the innermost list or map
  /// The root; null when there was no value.
  [[nodiscard]] Node finish();
  [[noreturn]] void fail(Place place, const std::string& message) const;

 private:
  struct Open {
    Place place;
    bool is_map;
    std::size_t first;  // of its children in children_
  };

  void start(Place place, bool is_map);
  [[nodiscard]] bool expects_key() const;
  void add(Node::Data value);
  [[nodiscard]] NodeMap take_map(std::size_t first);
  void refuse_duplicates(const NodeMap& map) const;

  std::shared_ptr<Document> document_;
  std::size_t max_depth_;
  std::vector<Open> open_;
  std::vector<Node> children_;  // of all open lists and maps, those of the innermost last
};

/// Both readers throw InputError; `text` is the whole file.
[[nodiscard]] Node read_yaml(std::string_view text, const std::string& name, int max_depth);

/// Text that is no JSON at all, told apart from what is wrong with the values in it.
struct JsonSyntaxError {
  Place place;
  std::string message;
};
[[nodiscard]] std::variant<Node, JsonSyntaxError> read_json(std::string_view text,
                                                            const std::string& name, int max_depth);

}  // namespace mergewise::detail

namespace mergewise {

struct Node::Data {
  detail::Place place;
  const detail::Document* document = nullptr;
  std::variant<std::monostate, const std::string*, const detail::NodeList*, const detail::NodeMap*>
      value;
  bool quoted = false;
};

}  // namespace mergewise
