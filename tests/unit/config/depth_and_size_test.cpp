// SPDX-License-Identifier: Apache-2.0
// What must be refused before it costs anything, and what must be readable although it is large.
#include "bench/config/node.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/unit/config/sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mergewise {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

template <typename Function>
void expect_input_error(const Function& function, const std::string& start,
                        const std::string& part) {
  EXPECT_THAT(function, ThrowsMessage<InputError>(AllOf(StartsWith(start), HasSubstr(part))));
}

std::string nested(std::size_t depth, const std::string& open, const std::string& close) {
  std::string text;
  for (std::size_t i = 0; i < depth; ++i) text += open;
  text += "1";
  for (std::size_t i = 0; i < depth; ++i) text += close;
  return text;
}

TEST(ParseDepth, TakesTheLimitAndRefusesOneMore) {
  for (const char* name : {"f.yaml", "f.json"}) {
    EXPECT_NO_THROW((void)parse_text(nested(64, "[", "]"), name, kConfigLimits));
    expect_input_error([&] { (void)parse_text(nested(65, "[", "]"), name, kConfigLimits); },
                       std::string(name) + ":1:65: ", "nested more than 64 deep");
    EXPECT_NO_THROW((void)parse_text(nested(64, "{\"a\":", "}"), name, kConfigLimits));
    expect_input_error([&] { (void)parse_text(nested(65, "{\"a\":", "}"), name, kConfigLimits); },
                       std::string(name) + ":1:321: ", "nested more than 64 deep");
  }
}

TEST(ParseDepth, RefusesAMillionOpenBrackets) {
  const std::string brackets(1 << 20, '[');
  const std::string braces(1 << 20, '{');
  for (const char* name : {"f.yaml", "f.json"}) {
    EXPECT_THROW((void)parse_text(brackets, name, kConfigLimits), InputError);
    EXPECT_THROW((void)parse_text(braces, name, kConfigLimits), InputError);
  }
  std::string dashes;
  for (int i = 0; i < 100'000; ++i) dashes += "- ";
  EXPECT_THROW((void)parse_text(dashes, "f.yaml", kConfigLimits), InputError);
}

TEST(ParseSize, TakesTheLimitAndRefusesOneMore) {
  const std::string full = "a: 1 #" + std::string((1 << 20) - 6, 'x');
  ASSERT_EQ(full.size(), std::size_t{1} << 20);
  EXPECT_NO_THROW((void)parse_text(full, "f.yaml", kConfigLimits));
  expect_input_error([&] { (void)parse_text(full + "x", "f.yaml", kConfigLimits); },
                     "f.yaml: the file is larger than 1.0 MiB", "smaller");
}

TEST(ParseSize, RefusesLargeYamlAndNamesTheWayOut) {
  const std::string large = "a: 1 #" + std::string(8 << 20, 'x');
  expect_input_error([&] { (void)parse_text(large, "f.yaml", kDataLimits); },
                     "f.yaml: YAML is read up to 8.0 MiB only", "JSON");
}

TEST(ParseSize, ReadsALargeListOfJson) {
  std::string text = R"({"tensors": [)";
  constexpr std::size_t kTensors = 200'000;
  for (std::size_t i = 0; i < kTensors; ++i) {
    text += i == 0 ? "\n" : ",\n";
    text += R"({"name": "layer.weight", "bytes": 4096, "backward_ns": 1234.5})";
  }
  text += "\n]}";
  ASSERT_GT(text.size(), std::size_t{8} << 20);
  const Node root = parse_text(text, "f", kDataLimits);
  const Node tensors = root.at("tensors");
  ASSERT_EQ(tensors.as_list().size(), kTensors);
  EXPECT_EQ(tensors.as_list().back().at("bytes").where(),
            "f:" + std::to_string(kTensors + 1) + ":35");
}

TEST(ParseSize, LargeTextThatIsNoJsonIsAnErrorOfJson) {
  const std::string large = "[" + std::string(9 << 20, ' ') + "oops]";
  expect_input_error([&] { (void)parse_text(large, "f", kDataLimits); }, "f:1:", "not valid JSON");
}

TEST(ParseFile, ReadsAFileAndNamesItInErrors) {
  const TemporaryFolder folder;
  const auto file = folder.write("good.yaml", "a: [1, x]\n");
  const Node root = parse_file(file, kConfigLimits);
  expect_input_error([&] { (void)root.at("a").as_list()[1].as_integer(); },
                     file.string() + ":1:8: 'x'", "an integer");
}

TEST(ParseFile, RefusesALargeFile) {
  const TemporaryFolder folder;
  const auto file = folder.write("large.yaml", std::string((1 << 20) + 1, '#'));
  expect_input_error([&] { (void)parse_file(file, kConfigLimits); },
                     file.string() + ": the file is larger than 1.0 MiB", "smaller");
}

TEST(ParseFile, RefusesAnEndlessDevice) {
  expect_input_error([] { (void)parse_file("/dev/zero", kConfigLimits); },
                     "/dev/zero: the file is larger than 1.0 MiB", "smaller");
}

TEST(ParseFile, RefusesAMissingFileAndAFolder) {
  const TemporaryFolder folder;
  expect_input_error([&] { (void)parse_file(folder.path() / "none.yaml", kConfigLimits); },
                     (folder.path() / "none.yaml").string() + ": cannot open the file",
                     "No such file");
  expect_input_error([&] { (void)parse_file(folder.path(), kConfigLimits); },
                     folder.path().string() + ": this is a directory", "expected a file");
}

}  // namespace
}  // namespace mergewise
