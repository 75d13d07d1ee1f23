// SPDX-License-Identifier: Apache-2.0
#include "bench/config/document.hpp"

#include "bench/core/text.hpp"

#include <fmt/format.h>

#include <iterator>
#include <unordered_map>

namespace mergewise::detail {

void fail_at(const std::string& name, Place place, const std::string& message) {
  throw InputError(fmt::format("{}:{}:{}: {}", name, place.line, place.column, message));
}

TreeBuilder::TreeBuilder(std::string name, int max_depth)
    : document_(std::make_shared<Document>()), max_depth_(static_cast<std::size_t>(max_depth)) {
  document_->name = std::move(name);
}

void TreeBuilder::fail(Place place, const std::string& message) const {
  fail_at(document_->name, place, message);
}

void TreeBuilder::null(Place place) {
  Node::Data value;
  // The place of "key:" with nothing behind it is the key's, not what comes next in the file.
  const bool in_map = !open_.empty() && open_.back().is_map && !expects_key();
  if (open_.empty()) place = {};  // an empty file
  value.place = in_map ? document_->values.back().place : place;
  add(value);
}

void TreeBuilder::scalar(Place place, std::string text, bool quoted) {
  Node::Data value;
  value.place = place;
  value.quoted = quoted;
  if (expects_key()) {
    value.value = &*document_->keys.insert(std::move(text)).first;
  } else {
    value.value = &document_->texts.emplace_back(std::move(text));
  }
  add(value);
}

void TreeBuilder::start(Place place, bool is_map) {
  if (expects_key()) fail(place, "a list or map cannot be a key, expected a word");
  if (open_.size() >= max_depth_) {
    fail(place, fmt::format("lists and maps are nested more than {} deep", max_depth_));
  }
  open_.push_back({place, is_map, children_.size()});
}

void TreeBuilder::end() {
  MERGEWISE_CHECK(!open_.empty(), "a list or map ends that never began");
  const Open closed = open_.back();
  open_.pop_back();
  Node::Data value;
  value.place = closed.place;
  if (closed.is_map) {
    NodeMap& map = document_->maps.emplace_back(take_map(closed.first));
    refuse_duplicates(map);
    value.value = &map;
  } else {
    const auto first = children_.begin() + static_cast<std::ptrdiff_t>(closed.first);
    value.value = &document_->lists.emplace_back(std::make_move_iterator(first),
                                                 std::make_move_iterator(children_.end()));
  }
  children_.erase(children_.begin() + static_cast<std::ptrdiff_t>(closed.first), children_.end());
  add(value);
}

Node TreeBuilder::finish() {
  MERGEWISE_CHECK(open_.empty() && children_.size() <= 1, "the tree is not complete");
  if (children_.empty()) null({});
  return children_.front();  // the copy owns the document
}

bool TreeBuilder::expects_key() const {
  return !open_.empty() && open_.back().is_map && (children_.size() - open_.back().first) % 2 == 0;
}

void TreeBuilder::add(Node::Data value) {
  if (expects_key() && !std::holds_alternative<const std::string*>(value.value)) {
    fail(value.place, "a key is missing or null, expected a word");
  }
  value.document = document_.get();
  const Node::Data& stored = document_->values.emplace_back(value);
  // Without an owner: the tree must not keep itself alive.
  children_.emplace_back(std::shared_ptr<const Node::Data>(std::shared_ptr<void>(), &stored));
}

NodeMap TreeBuilder::take_map(std::size_t first) {
  NodeMap map;
  map.reserve((children_.size() - first) / 2);
  for (std::size_t i = first; i + 1 < children_.size(); i += 2) {
    map.emplace_back(std::move(children_[i]), std::move(children_[i + 1]));
  }
  return map;
}

void TreeBuilder::refuse_duplicates(const NodeMap& map) const {
  const auto refuse = [&](const Node& again, const Node& before) {
    again.fail(fmt::format("key '{}' is already given at {}; keep one of them",
                           excerpt(again.text()), before.where()));
  };
  constexpr std::size_t kFew = 12;  // below it comparing all pairs is faster than a table
  if (map.size() <= kFew) {
    for (std::size_t i = 0; i < map.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        // Equal keys share one text.
        if (&map[i].first.text() == &map[j].first.text()) refuse(map[i].first, map[j].first);
      }
    }
    return;
  }
  std::unordered_map<const std::string*, const Node*> seen;
  for (const auto& [key, value] : map) {
    const auto [before, is_new] = seen.emplace(&key.text(), &key);
    if (!is_new) refuse(key, *before->second);
  }
}

}  // namespace mergewise::detail
