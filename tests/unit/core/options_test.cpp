// SPDX-License-Identifier: Apache-2.0
#include "bench/core/options.hpp"

#include "bench/core/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace mergewise {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

OptionSpec cap() {
  return {"cap_bytes", OptionKind::kInteger, "the cap", std::int64_t{26214400}, 1, 9.0e18, {}};
}
OptionSpec first_cap() {
  return {"first_cap_bytes", OptionKind::kInteger, "the first cap", std::string("auto"), 1, 1e9,
          {"auto"}};
}
OptionSpec gain() { return {"min_gain", OptionKind::kNumber, "the gain", 0.05, 0, 1, {}}; }
OptionSpec unit() {
  return {"unit", OptionKind::kWord,  "what merges", std::string("tensor"), 0,
          0,      {"tensor", "layer"}};
}

template <typename Function>
void expect_input_error(const Function& function, const std::string& first,
                        const std::string& second) {
  EXPECT_THAT(function, ThrowsMessage<InputError>(AllOf(HasSubstr(first), HasSubstr(second))));
}

TEST(ParseValue, ReadsIntegersNumbersAndWords) {
  EXPECT_EQ(parse_value("26214400"), OptionValue(std::int64_t{26214400}));
  EXPECT_EQ(parse_value("-1"), OptionValue(std::int64_t{-1}));
  EXPECT_EQ(parse_value("0.5"), OptionValue(0.5));
  EXPECT_EQ(parse_value("1e6"), OptionValue(1e6));
  EXPECT_EQ(parse_value("auto"), OptionValue(std::string("auto")));
  EXPECT_EQ(parse_value(""), OptionValue(std::string()));
}

TEST(ParseValue, TakesHalfANumberForAWord) {
  EXPECT_EQ(parse_value("25MiB"), OptionValue(std::string("25MiB")));
  EXPECT_EQ(parse_value("1 2"), OptionValue(std::string("1 2")));
}

TEST(ParseValue, KnowsNoInfinityAndNoNan) {
  EXPECT_EQ(parse_value("inf"), OptionValue(std::string("inf")));
  EXPECT_EQ(parse_value("nan"), OptionValue(std::string("nan")));
  EXPECT_EQ(parse_value("1e999"), OptionValue(std::string("1e999")));
}

TEST(ParseValue, TakesAnIntegerBeyond64BitsForANumber) {
  EXPECT_EQ(parse_value("100000000000000000000"), OptionValue(1e20));
}

TEST(ParseAssignment, SplitsAtTheFirstEqualsSign) {
  EXPECT_EQ(parse_assignment("cap_bytes=5"),
            (std::pair<std::string, OptionValue>("cap_bytes", std::int64_t{5})));
  EXPECT_EQ(parse_assignment("word=a=b"),
            (std::pair<std::string, OptionValue>("word", std::string("a=b"))));
  EXPECT_EQ(parse_assignment("word="),
            (std::pair<std::string, OptionValue>("word", std::string())));
}

TEST(ParseAssignment, RefusesTextWithoutNameOrSign) {
  expect_input_error([] { (void)parse_assignment("cap_bytes"); }, "'cap_bytes'", "name=value");
  expect_input_error([] { (void)parse_assignment("=5"); }, "'=5'", "name=value");
}

TEST(CheckedValue, GivesAnIntegerToANumberOption) {
  EXPECT_EQ(checked_value(gain(), std::int64_t{1}), OptionValue(1.0));
}

TEST(CheckedValue, GivesAWholeNumberToAnIntegerOption) {
  EXPECT_EQ(checked_value(cap(), 1e6), OptionValue(std::int64_t{1'000'000}));
}

TEST(CheckedValue, RefusesABrokenNumberForAnInteger) {
  expect_input_error([] { (void)checked_value(cap(), 1.5); }, "option 'cap_bytes' is '1.5'",
                     "an integer >= 1");
}

TEST(CheckedValue, RefusesWhatIsOutOfRange) {
  expect_input_error([] { (void)checked_value(cap(), std::int64_t{0}); }, "'0'", "an integer >= 1");
  expect_input_error([] { (void)checked_value(gain(), 1.5); }, "'1.5'", "a number from 0 to 1");
  EXPECT_EQ(checked_value(gain(), 1.0), OptionValue(1.0));
  EXPECT_EQ(checked_value(gain(), 0.0), OptionValue(0.0));
}

TEST(CheckedValue, RefusesNanAndInfinity) {
  EXPECT_THROW((void)checked_value(gain(), std::numeric_limits<double>::quiet_NaN()), InputError);
  EXPECT_THROW((void)checked_value(cap(), std::numeric_limits<double>::infinity()), InputError);
}

TEST(CheckedValue, RefusesAnIntegerTooLargeForItsType) {
  EXPECT_THROW((void)checked_value(cap(), 1e19), InputError);
  EXPECT_THROW((void)checked_value(cap(), std::numeric_limits<std::int64_t>::max()), InputError);
}

TEST(CheckedValue, TakesAWordBesideNumbersWhereTheSpecNamesIt) {
  EXPECT_EQ(checked_value(first_cap(), std::string("auto")), OptionValue(std::string("auto")));
  EXPECT_EQ(checked_value(first_cap(), std::int64_t{7}), OptionValue(std::int64_t{7}));
  expect_input_error([] { (void)checked_value(first_cap(), std::string("all")); }, "'all'",
                     "an integer from 1 to 1000000000 or auto");
}

TEST(CheckedValue, SaysTheOneNumberThatIsValid) {
  OptionSpec one = first_cap();
  one.minimum = one.maximum = 1;
  expect_input_error([&] { (void)checked_value(one, std::int64_t{2}); }, "'2'",
                     "expected 1 or auto");
}

TEST(CheckedValue, RefusesANumberAndAnUnknownWordForAWord) {
  expect_input_error([] { (void)checked_value(unit(), std::string("group")); }, "'group'",
                     "tensor | layer");
  expect_input_error([] { (void)checked_value(unit(), std::int64_t{0}); }, "'0'", "tensor | layer");
}

TEST(Resolve, CompletesWithDefaults) {
  const std::vector<OptionSpec> specs{cap(), first_cap(), gain(), unit()};
  Options given;
  given.set("min_gain", std::int64_t{1});
  const Options resolved = resolve(specs, given);
  EXPECT_EQ(resolved.integer("cap_bytes"), 26214400);
  EXPECT_TRUE(resolved.is_word("first_cap_bytes", "auto"));
  EXPECT_EQ(resolved.number("min_gain"), 1.0);
  EXPECT_EQ(resolved.word("unit"), "tensor");
}

TEST(Resolve, RefusesAnUnknownOptionWithTheNearest) {
  const std::vector<OptionSpec> specs{cap(), unit()};
  Options given;
  given.set("cap_byte", std::int64_t{1});
  expect_input_error([&] { (void)resolve(specs, given); },
                     "unknown option 'cap_byte', did you mean 'cap_bytes'?",
                     "Valid: cap_bytes, unit");
}

TEST(Resolve, RefusesAnyOptionWhereThereAreNone) {
  Options given;
  given.set("cap_bytes", std::int64_t{1});
  expect_input_error([&] { (void)resolve({}, given); }, "unknown option 'cap_bytes'", "none");
}

TEST(Options, ReadingAnAbsentOrOtherTypeIsABug) {
  Options options;
  EXPECT_THROW((void)options.integer("cap_bytes"), std::logic_error);
  options.set("cap_bytes", std::string("auto"));
  EXPECT_THROW((void)options.integer("cap_bytes"), std::logic_error);
  EXPECT_FALSE(options.is_word("other", "auto"));
  EXPECT_FALSE(options.is_word("cap_bytes", "all"));
}

TEST(ToString, WritesWhatAUserWouldWrite) {
  EXPECT_EQ(to_string(OptionValue(std::int64_t{26214400})), "26214400");
  EXPECT_EQ(to_string(OptionValue(0.05)), "0.05");
  EXPECT_EQ(to_string(OptionValue(std::string("auto"))), "auto");
}

}  // namespace
}  // namespace mergewise
