// SPDX-License-Identifier: Apache-2.0
#include "kernels/compute/deadline_cursor.hpp"

#include <gtest/gtest.h>

namespace mergewise {
namespace {

TEST(DeadlineCursor, DeadlinesAreSumsOfDurationsFromTheLastResume) {
  DeadlineCursor cursor;
  cursor.resume(1000);
  EXPECT_EQ(cursor.advance(10), 1010);
  EXPECT_EQ(cursor.advance(5), 1015);
  cursor.resume(2000);
  EXPECT_EQ(cursor.advance(1), 2001);
}

TEST(DeadlineCursor, FractionsAddUp) {
  DeadlineCursor cursor;
  cursor.resume(1'000'000'000'000'000);  // eleven days after boot
  for (int i = 0; i < 999; ++i) static_cast<void>(cursor.advance(0.1));
  EXPECT_EQ(cursor.advance(0.1), 1'000'000'000'000'100);
}

}  // namespace
}  // namespace mergewise
