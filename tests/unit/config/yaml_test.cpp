// SPDX-License-Identifier: Apache-2.0
#include "bench/config/node.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mergewise {
namespace {

using std::string_literals::operator""s;  // keeps the zero byte
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

Node yaml(const std::string& text) { return parse_text(text, "f.yaml", kConfigLimits); }

void expect_refused(const std::string& text, const std::string& place, const std::string& part) {
  SCOPED_TRACE(text);
  EXPECT_THAT(
      [&] { (void)yaml(text); },
      ThrowsMessage<InputError>(AllOf(StartsWith("f.yaml:" + place + ": "), HasSubstr(part))));
}

TEST(Yaml, KnowsThePlaceOfEveryValue) {
  const Node root = yaml(
      "# comment\n"
      "name: demo\n"
      "list:\n"
      "  - one\n"
      "  - {a: 1, 'b c':  \"x\"}\n"
      "text: |\n"
      "  two\n"
      "  lines\n");
  EXPECT_EQ(root.where(), "f.yaml:2:1");
  EXPECT_EQ(root.at("name").where(), "f.yaml:2:7");
  const Node list = root.at("list");
  EXPECT_EQ(list.where(), "f.yaml:4:3");
  EXPECT_EQ(list.as_list()[0].where(), "f.yaml:4:5");
  const Node& map = list.as_list()[1];
  EXPECT_EQ(map.where(), "f.yaml:5:5");
  EXPECT_EQ(map.as_map()[1].first.where(), "f.yaml:5:12");
  EXPECT_EQ(map.at("b c").where(), "f.yaml:5:20");
  EXPECT_EQ(root.at("text").text(), "two\nlines\n");
  EXPECT_EQ(root.at("text").where(), "f.yaml:6:7");
}

TEST(Yaml, PutsAnEmptyValueAtItsKey) {
  const Node root = yaml("a: 1\nlink:\n\n\nb: 2\n");
  EXPECT_EQ(root.at("link").where(), "f.yaml:2:1");
}

TEST(Yaml, AnEmptyFileIsNull) {
  EXPECT_TRUE(yaml("").is_null());
  EXPECT_TRUE(yaml("# only a comment\n").is_null());
  EXPECT_TRUE(yaml("\n\n").is_null());
  EXPECT_EQ(yaml("").where(), "f.yaml:1:1");
}

TEST(Yaml, TakesWindowsLineEndsAndAByteOrderMark) {
  const Node root = yaml(
      "\xEF\xBB\xBF"
      "a: 1\r\nb: two\r\n");
  EXPECT_EQ(root.at("a").as_integer(), 1);
  EXPECT_EQ(root.at("b").text(), "two");
  EXPECT_EQ(root.at("b").where(), "f.yaml:2:4");
}

TEST(Yaml, TakesOneDocumentWithItsMarkers) {
  EXPECT_EQ(yaml("---\na: 1\n...\n").at("a").as_integer(), 1);
}

TEST(Yaml, RefusesASecondDocument) {
  expect_refused("a: 1\n---\nb: 2\n", "2:1", "a second document");
  expect_refused("---\na: 1\n---\n", "3:1", "a second document");
}

TEST(Yaml, RefusesADuplicateKeyWithBothPlaces) {
  expect_refused("seed: 1\nname: x\nseed: 2\n", "3:1", "key 'seed' is already given at f.yaml:1:1");
  expect_refused("v: {a: 1, 'a': 2}\n", "1:11", "key 'a' is already given at f.yaml:1:5");
}

TEST(Yaml, RefusesADuplicateAmongManyKeys) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "key" + std::to_string(i) + ": 1\n";
  EXPECT_EQ(yaml(text).as_map().size(), 100U);
  expect_refused(text + "key7: 2\n", "101:1", "key 'key7' is already given at f.yaml:8:1");
}

TEST(Yaml, RefusesAnchorsAliasesAndTags) {
  expect_refused("a: &x 1\n", "1:4", "anchors (&name) are not supported");
  expect_refused("a: &x [1]\n", "1:4", "anchors");
  expect_refused("a: &x {b: 1}\n", "1:4", "anchors");
  expect_refused("a: *x\n", "1:4", "the referenced anchor is not defined");
  expect_refused("a: !!int 5\n", "1:4", "tags ('tag:yaml.org,2002:int') are not supported");
  expect_refused("a: !mine [5]\n", "1:4", "tags ('!mine')");
  expect_refused("a: !mine {b: 5}\n", "1:4", "tags ('!mine')");
}

TEST(Yaml, RefusesKeysThatAreNoWords) {
  expect_refused("? [a]\n: 1\n", "1:3", "a list or map cannot be a key");
  expect_refused("{{a: 1}: 2}\n", "1:2", "a list or map cannot be a key");
  expect_refused("~: 2\n", "1:1", "a key is missing or null");
}

TEST(Yaml, SaysWhereTheSyntaxIsWrong) {
  expect_refused("a: [1, 2\nb: 3\n", "2:2", "not valid YAML: ");
  expect_refused("a: 1\n\tb: 2\n", "2:1", "not valid YAML: ");
  expect_refused("a: b: c\n", "1:5", "not valid YAML: ");
}

TEST(Yaml, RefusesAFileThatEndsTooEarly) {
  expect_refused("a: 'open\n", "2:1", "the file ends inside a quoted text");
  expect_refused("a: 'open", "1:9", "the file ends inside a quoted text");
  expect_refused("a: \"open\n", "2:1", "the file ends inside a quoted text");
  expect_refused("a: [1,\n", "2:1", "the file ends too early");
}

TEST(Yaml, RefusesWhatIsNotText) {
  expect_refused("a: 1\nb: x\0y\n"s, "2:5", "byte 0x00 is not text");
  expect_refused("a: \x04\n", "1:4", "byte 0x04 is not text");
  expect_refused("a: caf\xe9\n", "1:7", "byte 0xe9 is not text, expected UTF-8");
  expect_refused(
      "\xff\xfe"
      "a",
      "1:1", "byte 0xff is not text");
  expect_refused("a: \xed\xa0\x80", "1:4", "byte 0xed");  // a surrogate
  expect_refused("a: \xc0\xaf", "1:4", "byte 0xc0");      // overlong
  expect_refused("a: \xf5\x80\x80\x80", "1:4", "byte 0xf5");
  expect_refused("a: \xe2\x82", "1:4", "byte 0xe2");  // cut off
}

TEST(Yaml, TakesUtf8) {
  EXPECT_EQ(yaml("name: Größe €\xF0\x9F\x98\x80\n").at("name").text(), "Größe €\xF0\x9F\x98\x80");
}

TEST(Yaml, ReadsFlowStyleThatLooksLikeJson) {
  const Node root = yaml("{name: demo, list: [1, 2,]}");
  EXPECT_EQ(root.at("name").text(), "demo");
  EXPECT_EQ(root.at("list").as_list().size(), 2U);
}

}  // namespace
}  // namespace mergewise
