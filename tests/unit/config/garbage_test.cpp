// SPDX-License-Identifier: Apache-2.0
// Whatever is in a file, reading it ends, and ends well or with an InputError that has a place.
#include "tests/unit/config/sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace mergewise {
namespace {

using testing::kComplete;
using std::string_literals::operator""s;  // keeps the zero byte
using ::testing::MatchesRegex;
using testing::run_config_of;

const std::string kJson =
    R"({"name": "demo", "workloads": [{"model": "resnet50", "batch": 64}], "ranks": [1, 2e0],
        "strategies": ["wfbp", {"ddp": {"cap_bytes": 1e6}}], "link": {"a_us": 0.5, "gbps": 1}})";

void expect_read_or_refused(const std::string& text, const std::string& name) {
  try {
    (void)run_config_of(text, name);
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), MatchesRegex("garbage[.a-z]*:[1-9][0-9]*:[1-9][0-9]*: .+")) << text;
  }
}

void expect_survived(const std::string& text) {
  for (const char* name : {"garbage.yaml", "garbage.json", "garbage"}) {
    ASSERT_NO_THROW(expect_read_or_refused(text, name)) << name << ": " << text;
  }
}

class Garbage : public ::testing::TestWithParam<std::string> {};

TEST_P(Garbage, EveryTruncation) {
  const std::string& valid = GetParam();
  for (std::size_t length = 0; length <= valid.size(); ++length) {
    expect_survived(valid.substr(0, length));
    expect_survived(valid.substr(length));
  }
}

TEST_P(Garbage, EveryByteReplacedByAMeaningfulOne) {
  const std::string meaningful =
      "\0\x04\t\n\r !\"#%&'*,-.:<=>?@[\\]`{|}~\x7f\x80\xc3\xff"
      "0e"s;
  for (std::size_t at = 0; at < GetParam().size(); ++at) {
    std::string text = GetParam();
    for (std::size_t i = at % 3; i < meaningful.size(); i += 3) {  // a third of them each
      text[at] = meaningful[i];
      ASSERT_NO_THROW(expect_read_or_refused(text, "garbage")) << text;
    }
  }
}

TEST_P(Garbage, RandomEdits) {
  std::mt19937 random(1);
  const std::string& valid = GetParam();
  for (int round = 0; round < 2000; ++round) {
    std::string text = valid;
    const int edits = 1 + static_cast<int>(random() % 8);
    for (int edit = 0; edit < edits; ++edit) {
      const std::size_t at = random() % text.size();
      const std::size_t from = random() % valid.size();
      const std::size_t length = random() % 12;
      switch (random() % 4) {
        case 0:
          text[at] = static_cast<char>(random() % 256);
          break;
        case 1:
          text.insert(at, valid.substr(from, length));
          break;
        case 2:
          text.erase(at, length);
          break;
        default:
          text[at] = static_cast<char>(text[at] ^ (1 << (random() % 8)));
      }
      if (text.empty()) text.push_back(' ');
    }
    ASSERT_NO_THROW(expect_read_or_refused(text, "garbage")) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Garbage, ::testing::Values(kComplete, kJson),
                         [](const auto& garbage) { return garbage.index == 0 ? "Yaml" : "Json"; });

TEST(Garbage, RandomSyntax) {
  const std::string alphabet = "{}[]:,-?&*!|>'\"%@`#~ \n\n  ab1.";
  std::mt19937 random(2);
  for (int round = 0; round < 8000; ++round) {
    std::string text;
    const std::size_t length = random() % 40;
    for (std::size_t i = 0; i < length; ++i) text += alphabet[random() % alphabet.size()];
    ASSERT_NO_THROW(expect_read_or_refused(text, "garbage")) << text;
  }
}

}  // namespace
}  // namespace mergewise
