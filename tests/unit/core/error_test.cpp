// SPDX-License-Identifier: Apache-2.0
#include "bench/core/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mergewise {
namespace {

using ::testing::HasSubstr;

template <typename Thrown>
ExitCode code_of() {
  try {
    throw Thrown("why");
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "why");
    return error.code();
  }
}

TEST(Error, BadInputExitsWithTwo) {
  EXPECT_EQ(static_cast<int>(code_of<InputError>()), 2);
  EXPECT_EQ(static_cast<int>(code_of<UnsupportedError>()), 2);
}

TEST(Error, AFailedRunExitsWithThree) {
  EXPECT_EQ(static_cast<int>(code_of<BackendError>()), 3);
  EXPECT_EQ(static_cast<int>(code_of<VerificationError>()), 3);
}

TEST(Check, StaysQuietWhileTheConditionHolds) {
  EXPECT_NO_THROW(MERGEWISE_CHECK(1 + 1 == 2, "arithmetic"));
}

TEST(Check, NamesConditionMessageAndFile) {
  try {
    MERGEWISE_CHECK(1 + 1 == 3, "arithmetic is off");
    FAIL() << "nothing was thrown";
  } catch (const std::logic_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("1 + 1 == 3"));
    EXPECT_THAT(error.what(), HasSubstr("arithmetic is off"));
    EXPECT_THAT(error.what(), HasSubstr("error_test.cpp:"));
    EXPECT_THAT(error.what(), HasSubstr("bug in mergewise"));
  }
}

TEST(Check, EvaluatesTheMessageOnlyOnFailure) {
  int evaluated = 0;
  const auto message = [&evaluated] {
    ++evaluated;
    return std::string("costly");
  };
  MERGEWISE_CHECK(true, message());
  EXPECT_EQ(evaluated, 0);
}

}  // namespace
}  // namespace mergewise
