// SPDX-License-Identifier: Apache-2.0
#include "bench/app/compression_error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace mergewise {
namespace {

using Given = std::map<std::string, OptionValue>;

std::vector<ProfileTensor> four_tensors(Bytes bytes = 4 * 4096) {
  std::vector<ProfileTensor> tensors;
  for (const char* name : {"a", "b", "c", "d"}) {
    ProfileTensor tensor;
    tensor.name = name;
    tensor.bytes = bytes;
    tensors.push_back(tensor);
  }
  return tensors;
}

std::optional<CompressionError> error_of(const std::string& id, const Given& given,
                                         const std::vector<std::size_t>& ends) {
  return compression_error(compressor_spec(id, Options(given)), plan_from_ends("asked", ends),
                           four_tensors());
}

const std::vector<std::size_t> kAlone{1, 2, 3, 4};
const std::vector<std::size_t> kMerged{4};

TEST(CompressionError, IsNothingWhereEverythingIsSent) {
  const auto error = error_of("topk", {{"density", 1.0}}, kMerged);
  ASSERT_TRUE(error.has_value());
  EXPECT_LT(error->whole, 1e-6);
  EXPECT_LT(error->worst_tensor, 1e-6);
}

TEST(CompressionError, IsThatOfHalfPrecision) {
  const auto fp16 = error_of("fp16", {}, kMerged);
  const auto bf16 = error_of("bf16", {}, kMerged);
  ASSERT_TRUE(fp16 && bf16);
  EXPECT_GT(fp16->whole, 0x1p-13);
  EXPECT_LT(fp16->whole, 0x1p-10);
  EXPECT_LT(fp16->whole, bf16->whole);
  EXPECT_LT(bf16->whole, 0x1p-7);
}

TEST(CompressionError, OneScaleForAGroupDrownsItsSmallTensors) {
  for (const char* id : {"onebit", "ef_signsgd", "terngrad"}) {
    const auto by_tensor = error_of(id, {}, kMerged);
    const auto by_group = error_of(id, {{"scale", std::string("group")}}, kMerged);
    ASSERT_TRUE(by_tensor && by_group) << id;
    EXPECT_LT(by_tensor->worst_tensor, 1) << id;
    EXPECT_GT(by_group->worst_tensor, 5 * by_tensor->worst_tensor) << id;
  }
}

TEST(CompressionError, MergingDoesNotMergeScalesOfTensors) {
  for (const char* id : {"onebit", "ef_signsgd", "terngrad"}) {
    const auto alone = error_of(id, {}, kAlone);
    const auto merged = error_of(id, {}, kMerged);
    ASSERT_TRUE(alone && merged) << id;
    EXPECT_DOUBLE_EQ(alone->whole, merged->whole) << id;
    EXPECT_DOUBLE_EQ(alone->worst_tensor, merged->worst_tensor) << id;
  }
}

TEST(CompressionError, MergedTopkSelectsFromTheLargestTensorsOnly) {
  const auto alone = error_of("topk", {{"density", 0.01}}, kAlone);
  const auto merged = error_of("topk", {{"density", 0.01}}, kMerged);
  ASSERT_TRUE(alone && merged);
  EXPECT_LT(merged->whole, alone->whole);
  EXPECT_DOUBLE_EQ(merged->worst_tensor, 1) << "nothing of the small ones is sent";
  EXPECT_LT(alone->worst_tensor, 1);
}

TEST(CompressionError, MessagesInPartsAndOfManySizesAreTakenApartAgain) {
  EXPECT_DOUBLE_EQ(
      error_of("topk", {{"density", 0.1}}, kMerged)->whole,
      error_of("topk", {{"density", 0.1}, {"messages", std::int64_t{2}}}, kMerged)->whole);
  EXPECT_LT(error_of("dgc", {{"density", 0.3}}, kMerged)->whole, 0.9);
}

TEST(CompressionError, IsTheSameEveryTime) {
  EXPECT_EQ(error_of("qsgd", {}, kAlone)->whole, error_of("qsgd", {}, kAlone)->whole);
}

TEST(CompressionError, IsUnknownForVotesAndForNothing) {
  EXPECT_FALSE(error_of("none", {}, kMerged).has_value());
  EXPECT_FALSE(error_of("signsgd", {}, kMerged).has_value());
  EXPECT_FALSE(error_of("signum", {}, kMerged).has_value());
  EXPECT_FALSE(
      compression_error(compressor_spec("fp16"), plan_from_ends("asked", {4}), four_tensors(0))
          .has_value());
}

}  // namespace
}  // namespace mergewise
