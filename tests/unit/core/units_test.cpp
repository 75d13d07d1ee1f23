// SPDX-License-Identifier: Apache-2.0
#include "bench/core/units.hpp"

#include <gtest/gtest.h>

namespace mergewise {
namespace {

TEST(HumanTime, TakesTheLargestUnitThatIsNotAboveTheValue) {
  EXPECT_EQ(human_time(0), "0 ns");
  EXPECT_EQ(human_time(999), "999 ns");
  EXPECT_EQ(human_time(1000), "1.0 us");
  EXPECT_EQ(human_time(182'000), "182.0 us");
  EXPECT_EQ(human_time(1e6), "1.0 ms");
  EXPECT_EQ(human_time(12.34e6), "12.3 ms");
  EXPECT_EQ(human_time(90e9), "90.0 s");
}

TEST(HumanTime, NeverRoundsUpToAThousand) {
  EXPECT_EQ(human_time(999.7), "1.0 us");
  EXPECT_EQ(human_time(999'960), "1.0 ms");
  EXPECT_EQ(human_time(999'960'000), "1.0 s");
  EXPECT_EQ(human_time(999'940), "999.9 us");
}

TEST(HumanTime, KeepsTheSign) { EXPECT_EQ(human_time(-2500), "-2.5 us"); }

TEST(HumanBytes, CountsInPowersOfTwo) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(1023), "1023 B");
  EXPECT_EQ(human_bytes(1024), "1.0 KiB");
  EXPECT_EQ(human_bytes(26'214'400), "25.0 MiB");
  EXPECT_EQ(human_bytes(Bytes{3} << 30), "3.0 GiB");
}

TEST(HumanBytes, NeverRoundsUpToTheNextUnit) {
  EXPECT_EQ(human_bytes((1 << 20) - 1), "1.0 MiB");
  EXPECT_EQ(human_bytes((1 << 30) - 1), "1.0 GiB");
}

TEST(Now, NeverGoesBack) {
  Stamp before = now();
  for (int i = 0; i < 1000; ++i) {
    const Stamp after = now();
    ASSERT_GE(after, before);
    before = after;
  }
}

}  // namespace
}  // namespace mergewise
