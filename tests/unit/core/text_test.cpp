// SPDX-License-Identifier: Apache-2.0
#include "bench/core/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace mergewise {
namespace {

using ::testing::HasSubstr;

const std::vector<std::string>& strategies() {
  static const std::vector<std::string> kIds{"wfbp", "single", "ddp", "mg_wfbp", "optimal"};
  return kIds;
}

TEST(Join, SeparatesWords) {
  EXPECT_EQ(join(strategies()), "wfbp, single, ddp, mg_wfbp, optimal");
  EXPECT_EQ(join(std::vector<std::string>{"a", "b"}, " | "), "a | b");
  EXPECT_EQ(join(std::vector<std::string>{}), "");
  EXPECT_EQ(join(std::vector<std::string>{"one"}), "one");
}

TEST(Counted, IsPluralForAllButOne) {
  EXPECT_EQ(counted(0, "rank"), "0 ranks");
  EXPECT_EQ(counted(1, "rank"), "1 rank");
  EXPECT_EQ(counted(2, "rank"), "2 ranks");
}

TEST(Fixed, HasNoMinusBeforeZero) {
  EXPECT_EQ(fixed(-0.001, 2), "0.00");
  EXPECT_EQ(fixed(-0.4, 0), "0");
  EXPECT_EQ(fixed(-0.006, 2), "-0.01");
  EXPECT_EQ(fixed(-10, 1), "-10.0");
  EXPECT_EQ(fixed(1.25, 1), "1.2");
}

TEST(Nearest, FindsTypingSlips) {
  EXPECT_EQ(nearest("mgwfbp", strategies()), "mg_wfbp");
  EXPECT_EQ(nearest("wfpb", strategies()), "wfbp");
  EXPECT_EQ(nearest("optimum", strategies()), "optimal");
  EXPECT_EQ(nearest("dp", strategies()), "ddp");
  EXPECT_EQ(nearest("single", strategies()), "single");
}

TEST(Nearest, GivesNothingWhenNothingIsNear) {
  EXPECT_EQ(nearest("bytescheduler", strategies()), "");
  EXPECT_EQ(nearest("wfbp", std::vector<std::string>{}), "");
}

TEST(Nearest, TakesTheFirstOfEquallyNear) {
  EXPECT_EQ(nearest("ab", std::vector<std::string>{"ac", "ad"}), "ac");
}

TEST(Nearest, GivesNothingForAnAbsurdlyLongWord) {
  EXPECT_EQ(nearest(std::string(1'000'000, 'x'), std::vector<std::string>{std::string(99, 'x')}),
            "");
}

TEST(UnknownName, NamesWordMatchAndChoices) {
  EXPECT_EQ(unknown_name("strategy", "mgwfbp", strategies()),
            "unknown strategy 'mgwfbp', did you mean 'mg_wfbp'? Valid: wfbp, single, ddp, mg_wfbp, "
            "optimal");
}

TEST(UnknownName, LeavesTheMatchOutWhenNothingIsNear) {
  EXPECT_EQ(unknown_name("strategy", "bytescheduler", strategies()),
            "unknown strategy 'bytescheduler'. Valid: wfbp, single, ddp, mg_wfbp, optimal");
}

TEST(UnknownName, EscapesWhatAUserWrote) {
  EXPECT_THAT(unknown_name("strategy", "a\nb\x1b[31m", strategies()),
              HasSubstr("'a\\nb\\x1b[31m'"));
}

TEST(Excerpt, KeepsShortText) {
  EXPECT_EQ(excerpt("layer4.2.bn3.weight"), "layer4.2.bn3.weight");
  EXPECT_EQ(excerpt(""), "");
  EXPECT_EQ(excerpt("Größe"), "Größe");
}

TEST(Excerpt, EscapesControlCharacters) {
  EXPECT_EQ(excerpt(std::string("a\tb\nc\x01\x7f", 7)), "a\\tb\\nc\\x01\\x7f");
}

TEST(Excerpt, CutsLongText) {
  EXPECT_EQ(excerpt("123456789", 5), "12345...");
  EXPECT_EQ(excerpt("12345", 5), "12345");
}

TEST(Excerpt, NeverCutsInsideACharacter) {
  EXPECT_EQ(excerpt("abcdé1", 5), "abcd...");
  EXPECT_EQ(excerpt("ab\xf0\x9f\x98\x80 1", 5), "ab...");
}

TEST(Excerpt, EscapesWhatIsNoUtf8) {
  EXPECT_EQ(excerpt("caf\xe9!"), "caf\\xe9!");
  EXPECT_EQ(excerpt("\xe2\x82"), "\\xe2\\x82");
}

TEST(Utf8Length, CountsTheBytesOfACharacter) {
  EXPECT_EQ(utf8_length("a"), 1U);
  EXPECT_EQ(utf8_length("\xc3\xa9"), 2U);
  EXPECT_EQ(utf8_length("\xe2\x82\xac"), 3U);
  EXPECT_EQ(utf8_length("\xf0\x9f\x98\x80"), 4U);
  EXPECT_EQ(utf8_length("\xed\x9f\xbf"), 3U);      // the last before the surrogates
  EXPECT_EQ(utf8_length("\xf4\x8f\xbf\xbf"), 4U);  // the last of all
}

TEST(Utf8Length, IsZeroForWhatIsNoCharacter) {
  for (const char* text :
       {"", "\x80", "\xc0\xaf", "\xc1\xbf", "\xc3", "\xc3(", "\xe0\x9f\xbf", "\xe2\x82",
        "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"}) {
    EXPECT_EQ(utf8_length(text), 0U) << excerpt(text);
  }
}

}  // namespace
}  // namespace mergewise
