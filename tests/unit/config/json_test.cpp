// SPDX-License-Identifier: Apache-2.0
#include "bench/config/node.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace mergewise {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

Node json(const std::string& text) { return parse_text(text, "f.json", kDataLimits); }

void expect_refused(const std::string& text, const std::string& place, const std::string& part) {
  SCOPED_TRACE(text);
  EXPECT_THAT(
      [&] { (void)json(text); },
      ThrowsMessage<InputError>(AllOf(StartsWith("f.json:" + place + ": "), HasSubstr(part))));
}

TEST(Json, KnowsThePlaceOfEveryValue) {
  const Node root = json(
      "{\n"
      "  \"a\": 1,\"b\\\"q\":  [ -2.5e3,\"x\\\\\", {\"c\":null}, true,12],\n"
      "  \"d\" : {} ,\t\"e\":[]\n"
      "}\n");
  EXPECT_EQ(root.where(), "f.json:1:1");
  EXPECT_EQ(root.as_map()[0].first.where(), "f.json:2:3");
  EXPECT_EQ(root.at("a").where(), "f.json:2:8");
  EXPECT_EQ(root.as_map()[1].first.where(), "f.json:2:10");
  const Node list = root.at("b\"q");
  EXPECT_EQ(list.where(), "f.json:2:19");
  EXPECT_EQ(list.as_list()[0].where(), "f.json:2:21");
  EXPECT_EQ(list.as_list()[1].where(), "f.json:2:28");
  EXPECT_EQ(list.as_list()[2].where(), "f.json:2:35");
  EXPECT_EQ(list.as_list()[2].at("c").where(), "f.json:2:36");  // null: its key's
  EXPECT_EQ(list.as_list()[3].where(), "f.json:2:47");
  EXPECT_EQ(list.as_list()[4].where(), "f.json:2:52");
  EXPECT_EQ(root.at("d").where(), "f.json:3:9");
  EXPECT_EQ(root.at("e").where(), "f.json:3:18");
}

TEST(Json, ReadsScalars) {
  const Node root = json(
      R"([-9223372036854775808, 18446744073709551615, 0.1, 1e3, true, "t\u00e4\n", null, -0.0])");
  const auto& list = root.as_list();
  EXPECT_EQ(list[0].as_integer(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(list[1].text(), "18446744073709551615");
  EXPECT_EQ(list[2].as_number(0, 1), 0.1);
  EXPECT_EQ(list[3].as_integer(), 1000);
  EXPECT_TRUE(list[4].as_bool());
  EXPECT_EQ(list[5].text(), "tä\n");
  EXPECT_TRUE(list[6].is_null());
  EXPECT_EQ(list[7].as_number(-1, 1), 0.0);
}

TEST(Json, AStringIsNeverANumber) {
  EXPECT_THAT([] { (void)json(R"(["12"])").as_list()[0].as_integer(); },
              ThrowsMessage<InputError>(StartsWith("f.json:1:2: the text '12'")));
  EXPECT_THAT([] { (void)json(R"(["true"])").as_list()[0].as_bool(); },
              ThrowsMessage<InputError>(StartsWith("f.json:1:2: the text 'true'")));
}

TEST(Json, RefusesADuplicateKeyWithBothPlaces) {
  expect_refused("{\"a\": 1,\n \"b\": 2,\n \"a\": 3}", "3:2",
                 "key 'a' is already given at f.json:1:2");
  expect_refused(R"({"a": 1, "\u0061": 3})", "1:10", "key 'a' is already given");
}

TEST(Json, RefusesNanAndInfinity) {
  expect_refused("{\"a\": NaN}", "1:7", "not valid JSON: syntax error");
  expect_refused("{\"a\": Infinity}", "1:7", "not valid JSON: syntax error");
  expect_refused("{\"a\": 1e999}", "1:7", "not valid JSON: number overflow parsing '1e999'");
}

TEST(Json, SaysWhereTheSyntaxIsWrong) {
  expect_refused("{\"a\": 1,}", "1:9", "not valid JSON: syntax error");
  expect_refused("{\"a\": 12abc}", "1:7", "not valid JSON: syntax error");
  expect_refused("{\"a\":\n  [1 2]}", "2:6", "not valid JSON: syntax error");
  expect_refused("{\"a\":\n  [1, 2", "2:7", "not valid JSON: syntax error");
  expect_refused("{\"a\": \"open", "1:7", "not valid JSON: syntax error");
  expect_refused("{\"a\": 1}\n{}", "2:1", "not valid JSON: syntax error");
  expect_refused("", "1:1", "not valid JSON: syntax error");
  expect_refused("{\"a\": \"\xff\"}", "1:7", "\\xff");
}

TEST(Json, IsRecognisedByItsFirstCharacterToo) {
  const Node root = parse_text("  \n{\"a\": \"12\"}", "profile", kDataLimits);
  EXPECT_EQ(root.at("a").where(), "profile:2:7");
  EXPECT_TRUE(root.at("a").quoted());
}

TEST(Json, OtherTextThatBeginsLikeItIsYaml) {
  EXPECT_EQ(parse_text("[1, two]", "f", kDataLimits).as_list()[1].text(), "two");
}

TEST(Json, ADuplicateKeyIsNotTriedAgainAsYaml) {
  EXPECT_THAT([] { (void)parse_text("{\"a\": 1, \"a\": 2}", "f", kDataLimits); },
              ThrowsMessage<InputError>(StartsWith("f:1:10: key 'a' is already given at f:1:2")));
}

TEST(Json, AgreesWithNlohmannOnAllItsText) {
  nlohmann::json document = {{"integers", {0, -1, 123456789012345}},
                             {"numbers", {0.1, 1e-300, 12345.678, 1.7976931348623157e308}},
                             {"texts", {"", "a\"b\\c/\b\f\n\r\t", "\u00e4\u20ac"}},
                             {"nested", {{"list", {nlohmann::json::array(), {1, {2}}}}}}};
  for (const int indent : {-1, 2}) {
    const Node root = json(document.dump(indent));
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(root.at("integers").as_list()[i].as_integer(), document["integers"][i]);
      EXPECT_EQ(root.at("numbers").as_list()[i].as_number(0, 1.7976931348623157e308),
                document["numbers"][i]);
      EXPECT_EQ(root.at("texts").as_list()[i].text(), document["texts"][i]);
    }
    EXPECT_EQ(root.at("nested").at("list").as_list()[1].as_list()[1].as_list()[0].as_integer(), 2);
  }
}

}  // namespace
}  // namespace mergewise
