// SPDX-License-Identifier: Apache-2.0
#include "bench/config/document.hpp"
#include "bench/core/text.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>

namespace mergewise::detail {
namespace {

// yaml-cpp counts from 0, and has -1 for "nowhere".
Place place_of(const YAML::Mark& mark) {
  return {static_cast<std::uint32_t>(std::max(mark.line, 0) + 1),
          static_cast<std::uint32_t>(std::max(mark.column, 0) + 1)};
}

class Handler : public YAML::EventHandler {
 public:
  Handler(const std::string& name, int max_depth) : tree_(name, max_depth) {}

  [[nodiscard]] Node finish() { return tree_.finish(); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) {
      tree_.fail(place_of(mark), "a second document starts here, expected one; split the file");
    }
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse(mark, "?", anchor);
    tree_.null(place_of(mark));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    tree_.fail(place_of(mark), "aliases (*name) are not supported; repeat the value");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    const bool quoted = tag == "!";  // yaml-cpp's tag for quoted and block text
    refuse(mark, quoted ? "?" : tag, anchor);
    tree_.scalar(place_of(mark), value, quoted);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    refuse(mark, tag, anchor);
    tree_.start_list(place_of(mark));
  }
  void OnSequenceEnd() override { tree_.end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    refuse(mark, tag, anchor);
    tree_.start_map(place_of(mark));
  }
  void OnMapEnd() override { tree_.end(); }

 private:
  void refuse(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) const {
    if (anchor != YAML::NullAnchor) {
      tree_.fail(place_of(mark), "anchors (&name) are not supported; repeat the value");
    }
    if (!tag.empty() && tag != "?") {
      tree_.fail(place_of(mark), fmt::format("tags ('{}') are not supported; remove it", tag));
    }
  }

  TreeBuilder tree_;
  int documents_ = 0;
};

// yaml-cpp takes some control characters for the end of the file and mends broken UTF-8 silently.
// Gives the place behind the last character.
Place refuse_binary(std::string_view text, const std::string& name) {
  Place place;
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const bool control =
        (byte < 0x20 && byte != '\n' && byte != '\r' && byte != '\t') || byte == 0x7F;
    const std::size_t length = control ? 0 : utf8_length(text.substr(at));
    if (length == 0) {
      fail_at(name, place, fmt::format("byte 0x{:02x} is not text, expected UTF-8", byte));
    }
    at += length;
    place.column += static_cast<std::uint32_t>(length);
    if (byte == '\n') place = {place.line + 1, 1};
  }
  return place;
}

}  // namespace

Node read_yaml(std::string_view text, const std::string& name, int max_depth) {
  const Place end = refuse_binary(text, name);
  // yaml-cpp takes a file that stops inside a quoted text for a whole one, unless a mark follows.
  std::istringstream stream(fmt::format("{}\n...\n", text));
  Handler handler(name, max_depth);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(handler)) {
    }
  } catch (const YAML::Exception& error) {
    const Place place = place_of(error.mark);
    if (place.line < end.line || (place.line == end.line && place.column < end.column)) {
      fail_at(name, place, fmt::format("not valid YAML: {}", error.msg));
    }
    fail_at(name, end,
            error.msg == YAML::ErrorMsg::DOC_IN_SCALAR
                ? "not valid YAML: the file ends inside a quoted text"
                : fmt::format("not valid YAML: the file ends too early ({})", error.msg));
  }
  return handler.finish();
}

}  // namespace mergewise::detail
