// SPDX-License-Identifier: Apache-2.0
#include "bench/config/document.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <iterator>
#include <optional>

namespace mergewise::detail {
namespace {

// Follows the lexer through the text, since its events carry no places: where it is, and where the
// value it is in began.
class Tracker {
 public:
  void pass(char c) {
    last_ = {line_, column_};
    if (in_string_) {
      in_string_ = escaped_ || c != '"';
      escaped_ = !escaped_ && c == '\\';
    } else if (c == '"') {
      value_ = last_;
      in_string_ = true;
      in_word_ = false;
    } else if (c == '{' || c == '[') {
      value_ = last_;
      in_word_ = false;
    } else if (c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == ',' || c == ':' ||
               c == '}' || c == ']') {
      // These leave value_ alone: the lexer looks one character past a number.
      in_word_ = false;
    } else if (!in_word_) {
      value_ = last_;
      in_word_ = true;
    }
    ++column_;
    if (c == '\n') {
      ++line_;
      column_ = 1;
    }
  }
  [[nodiscard]] Place last() const { return last_; }    // the character passed last
  [[nodiscard]] Place value() const { return value_; }  // the value that began last

 private:
  std::uint32_t line_ = 1;
  std::uint32_t column_ = 1;
  Place last_;
  Place value_;
  bool in_string_ = false;
  bool escaped_ = false;
  bool in_word_ = false;
};

// Gives the lexer its characters and tells the tracker about each.
class Input {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  Input(const char* at, Tracker* tracker) : at_(at), tracker_(tracker) {}
  reference operator*() const { return *at_; }
  Input& operator++() {
    tracker_->pass(*at_);
    ++at_;
    return *this;
  }
  Input operator++(int) {
    const Input before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const Input& a, const Input& b) { return a.at_ == b.at_; }

 private:
  const char* at_;
  Tracker* tracker_;
};

// nlohmann's SAX interface, passed on to the tree.
class Handler {
 public:
  Handler(const std::string& name, int max_depth, const Tracker& tracker)
      : tree_(name, max_depth), tracker_(tracker) {}

  bool null() {
    tree_.null(tracker_.value());
    return true;
  }
  bool boolean(bool value) { return plain(value ? "true" : "false"); }
  bool number_integer(std::int64_t value) { return plain(fmt::format_int(value).str()); }
  bool number_unsigned(std::uint64_t value) { return plain(fmt::format_int(value).str()); }
  bool number_float(double /*value*/, const std::string& text) { return plain(text); }
  bool string(std::string& value) {
    tree_.scalar(tracker_.value(), std::move(value), true);
    return true;
  }
  bool binary(nlohmann::json::binary_t& /*value*/) { return false; }  // never in JSON text
  bool start_object(std::size_t /*size*/) {
    tree_.start_map(tracker_.value());
    return true;
  }
  bool key(std::string& value) { return string(value); }
  bool end_object() {
    tree_.end();
    return true;
  }
  bool start_array(std::size_t /*size*/) {
    tree_.start_list(tracker_.value());
    return true;
  }
  bool end_array() {
    tree_.end();
    return true;
  }
  bool parse_error(std::size_t /*position*/, const std::string& /*last_token*/,
                   const nlohmann::json::exception& error) {
    // "[json.exception...] parse error at line 3, column 8: MESSAGE": the place is ours to say.
    std::string message = error.what();
    message.erase(0, message.find("] ") + 2);
    if (message.starts_with("parse error at")) message.erase(0, message.find(": ") + 2);
    // A wrong value is shown where it begins, punctuation and the end of the file where they are.
    const std::string_view problem = std::string_view(message).substr(message.find(" - ") + 1);
    bool is_value = true;
    for (const char* token : {"','", "':'", "'}'", "']'", "end of input"}) {
      if (problem.starts_with(fmt::format("- unexpected {}", token))) is_value = false;
    }
    error_ = JsonSyntaxError{is_value ? tracker_.value() : tracker_.last(),
                             fmt::format("not valid JSON: {}", message)};
    return false;
  }

  [[nodiscard]] const std::optional<JsonSyntaxError>& error() const { return error_; }
  [[nodiscard]] Node finish() { return tree_.finish(); }

 private:
  bool plain(std::string text) {
    tree_.scalar(tracker_.value(), std::move(text), false);
    return true;
  }

  TreeBuilder tree_;
  const Tracker& tracker_;
  std::optional<JsonSyntaxError> error_;
};

}  // namespace

std::variant<Node, JsonSyntaxError> read_json(std::string_view text, const std::string& name,
                                              int max_depth) {
  Tracker tracker;
  Handler handler(name, max_depth, tracker);
  const Input first(text.data(), &tracker);
  const Input last(text.data() + text.size(), &tracker);
  const bool complete = nlohmann::json::sax_parse(first, last, &handler);
  if (handler.error()) return *handler.error();
  MERGEWISE_CHECK(complete, "the JSON reader stopped without an error");
  return handler.finish();
}

}  // namespace mergewise::detail
