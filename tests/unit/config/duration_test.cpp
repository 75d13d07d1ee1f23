// SPDX-License-Identifier: Apache-2.0
#include "bench/config/run_config.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mergewise {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Duration, ReadsEveryUnit) {
  EXPECT_EQ(parse_duration("500ms"), 500e6);
  EXPECT_EQ(parse_duration("150s"), 150e9);
  EXPECT_EQ(parse_duration("10m"), 600e9);
  EXPECT_EQ(parse_duration("2h"), 7200e9);
  EXPECT_EQ(parse_duration("1.5h"), 5400e9);
}

TEST(Duration, TakesAPlainNumberForSeconds) {
  EXPECT_EQ(parse_duration("90"), 90e9);
  EXPECT_EQ(parse_duration("0.5"), 0.5e9);
  EXPECT_EQ(parse_duration("1e2"), 100e9);
}

TEST(Duration, RefusesAllElse) {
  for (const char* text : {"", "s", "10 s", " 10s", "10S", "10d", "10min", "10ss", "-5s", "0s", "0",
                           "nan", "inf", "infs", "nans", "1e999s", "10001h", "5s5", "0x5s"}) {
    SCOPED_TRACE(text);
    EXPECT_THAT([&] { (void)parse_duration(text); },
                ThrowsMessage<InputError>(AllOf(HasSubstr(fmt::format("'{}'", text)),
                                                HasSubstr("ms, s, m or h"), HasSubstr("150s"))));
  }
}

}  // namespace
}  // namespace mergewise
