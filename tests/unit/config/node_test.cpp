// SPDX-License-Identifier: Apache-2.0
#include "bench/config/node.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace mergewise {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

Node yaml(const std::string& text) { return parse_text(text, "f.yaml", kConfigLimits); }

// The value of the key 'v' in "v: TEXT".
Node value(const std::string& text) { return yaml("v: " + text).at("v"); }

template <typename Function>
void expect_input_error(const Function& function, const std::string& start,
                        const std::string& part) {
  EXPECT_THAT(function, ThrowsMessage<InputError>(AllOf(StartsWith(start), HasSubstr(part))));
}

TEST(NodeInteger, ReadsDecimals) {
  EXPECT_EQ(value("0").as_integer(), 0);
  EXPECT_EQ(value("-17").as_integer(), -17);
  EXPECT_EQ(value("9223372036854775807").as_integer(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(value("-9223372036854775808").as_integer(), std::numeric_limits<std::int64_t>::min());
}

TEST(NodeInteger, ReadsWholeNumbersInOtherForms) {
  EXPECT_EQ(value("1e6").as_integer(), 1'000'000);
  EXPECT_EQ(value("2.5e3").as_integer(), 2500);
  EXPECT_EQ(value("64.0").as_integer(), 64);
}

TEST(NodeInteger, RefusesWhatIsNoInteger) {
  for (const char* text :
       {"12abc", "1.5", "abc", "0x10", "1_000", "+5", "'5'", "\"5\"", "007", "1e999", "nan", "inf",
        ".inf", "9223372036854775808", "1e19", "true", "5 6", "1e-400"}) {
    SCOPED_TRACE(text);
    expect_input_error(
        [&] { (void)yaml("v:  [" + std::string(text) + "]").at("v").as_list()[0].as_integer(); },
        "f.yaml:1:", "is not valid here, expected an integer");
  }
}

TEST(NodeInteger, NamesTextPlaceAndRange) {
  expect_input_error([] { (void)value("65537").as_integer(1, 65536); }, "f.yaml:1:4: '65537'",
                     "an integer from 1 to 65536");
  expect_input_error([] { (void)value("0").as_integer(1); }, "f.yaml:1:4: '0'", "an integer >= 1");
  expect_input_error([] { (void)value("'5'").as_integer(); }, "f.yaml:1:4: the text '5'",
                     "an integer");
}

TEST(NodeNumber, ReadsFiniteNumbers) {
  EXPECT_EQ(value("0.02").as_number(0, 1), 0.02);
  EXPECT_EQ(value("-2.5e-3").as_number(-1, 1), -0.0025);
  EXPECT_EQ(value("3").as_number(0, 10), 3.0);
  EXPECT_EQ(value(".5").as_number(0, 1), 0.5);
}

TEST(NodeNumber, RefusesWhatIsNoFiniteNumber) {
  for (const char* text : {"nan", "NaN", ".nan", "inf", "-inf", ".inf", "Infinity", "1e999",
                           "1.2.3", "12abc", "'1.5'", "01.5", "1,5", "0x1p3", "true"}) {
    SCOPED_TRACE(text);
    EXPECT_THROW(
        (void)yaml("v: \n  - " + std::string(text)).at("v").as_list()[0].as_number(-1e300, 1e300),
        InputError);
  }
}

TEST(NodeNumber, NamesTextPlaceAndRange) {
  const double infinity = std::numeric_limits<double>::infinity();
  expect_input_error([] { (void)value("1.5").as_number(0, 1); }, "f.yaml:1:4: '1.5'",
                     "a number from 0 to 1");
  expect_input_error([&] { (void)value("-1").as_number(0, infinity); }, "f.yaml:1:4: '-1'",
                     "a number >= 0");
  expect_input_error([&] { (void)value("2").as_number(-infinity, 1); }, "f.yaml:1:4: '2'",
                     "a number <= 1");
  expect_input_error([&] { (void)value("nan").as_number(-infinity, infinity); },
                     "f.yaml:1:4: 'nan'", "a finite number");
}

TEST(NodeBool, IsTrueOrFalseOnly) {
  EXPECT_TRUE(value("true").as_bool());
  EXPECT_FALSE(value("false").as_bool());
  for (const char* text : {"yes", "no", "True", "1", "'true'", "on", "[]"}) {
    expect_input_error([&] { (void)value(text).as_bool(); }, "f.yaml:1:4: ", "true or false");
  }
}

TEST(NodeString, TakesAnyScalarButNoEmptyValue) {
  EXPECT_EQ(value("abc def").as_string(), "abc def");
  EXPECT_EQ(value("12").as_string(), "12");
  EXPECT_EQ(value("''").as_string(), "");
  EXPECT_TRUE(value("''").quoted());
  EXPECT_FALSE(value("x").quoted());
  expect_input_error([] { (void)value("").as_string(); },
                     "f.yaml:1:1: ", "an empty value is not valid here, expected a single value");
  expect_input_error([] { (void)value("[a]").as_string(); },
                     "f.yaml:1:4: ", "a list is not valid here, expected a single value");
}

TEST(NodeKind, IsNullScalarListOrMap) {
  EXPECT_TRUE(value("").is_null());
  EXPECT_TRUE(value("~").is_null());
  EXPECT_TRUE(value("null").is_null());
  EXPECT_TRUE(value("'null'").is_scalar());
  EXPECT_TRUE(value("[]").is_list());
  EXPECT_TRUE(value("{}").is_map());
}

TEST(NodeKind, OtherKindsAreNamedInErrors) {
  expect_input_error([] { (void)value("{a: 1}").as_list(); },
                     "f.yaml:1:4: ", "a map is not valid here, expected a list");
  expect_input_error([] { (void)value("[1]").as_map(); },
                     "f.yaml:1:4: ", "a list is not valid here, expected a map");
  expect_input_error([] { (void)value("word").as_map(); },
                     "f.yaml:1:4: ", "'word' is not valid here, expected a map");
  expect_input_error([] { (void)value("word").at("x"); }, "f.yaml:1:4: ", "expected a map");
}

TEST(NodeMap, FindsKeys) {
  const Node map = yaml("a: 1\nb: {c: 2}\n");
  EXPECT_EQ(map.at("b").at("c").as_integer(), 2);
  EXPECT_TRUE(map.find("a").has_value());
  EXPECT_FALSE(map.find("c").has_value());
  expect_input_error([&] { (void)map.at("b").at("name"); },
                     "f.yaml:2:4: ", "the key 'name' is missing");
}

TEST(NodeMap, KeepsFileOrder) {
  const Node map = yaml("z: 1\na: 2\nm: 3\n");
  std::string order;
  for (const auto& [key, unused] : map.as_map()) order += key.text();
  EXPECT_EQ(order, "zam");
}

TEST(NodeMap, RefusesOtherKeysAtTheirPlace) {
  const Node map = yaml("block: 5\ntargets: 0.02\n");
  map.allow_keys({"block", "targets"});
  expect_input_error(
      [&] {
        map.allow_keys({"block", "max", "target"});
      },
      "f.yaml:2:1: ", "unknown key 'targets', did you mean 'target'? Valid: block, max, target");
}

TEST(NodeError, ShowsALongTextInPart) {
  expect_input_error([] { (void)value(std::string(5000, 'x')).as_integer(); }, "f.yaml:1:4: 'xxx",
                     "xxx...' is not valid here");
}

TEST(Node, ACopyOutlivesTheRoot) {
  std::vector<Node> kept;
  {
    const Node root = yaml("list: [one, {two: 2}]\n");
    for (const Node& entry : root.at("list").as_list()) kept.push_back(entry);
    kept.push_back(root.at("list"));
  }
  EXPECT_EQ(kept[0].text(), "one");
  EXPECT_EQ(kept[1].at("two").as_integer(), 2);
  EXPECT_EQ(kept[2].as_list()[1].where(), "f.yaml:1:13");
}

TEST(Node, AssignmentKeepsTheOtherTree) {
  Node node = yaml("a: 1");
  node = yaml("b: 2");
  EXPECT_EQ(node.at("b").as_integer(), 2);
  node = node.as_map()[0].second;  // into its own tree
  EXPECT_EQ(node.as_integer(), 2);
  const Node& same = node;
  node = same;
  EXPECT_EQ(node.as_integer(), 2);
}

}  // namespace
}  // namespace mergewise
