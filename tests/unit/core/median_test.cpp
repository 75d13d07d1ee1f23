// SPDX-License-Identifier: Apache-2.0
#include "bench/core/median.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace mergewise {
namespace {

TEST(Median, OfAnEvenNumberIsTheMeanOfTheMiddleTwo) {
  EXPECT_EQ(median(std::vector<double>{4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median(std::vector<double>{7, 4}), 5.5);
}

TEST(Median, OfAnOddNumberIsTheMiddleOne) {
  EXPECT_EQ(median(std::vector<double>{5, 1, 3}), 3);
  EXPECT_EQ(median(std::vector<double>{7}), 7);
}

TEST(Median, NeedsSamples) { EXPECT_THROW(static_cast<void>(median({})), std::logic_error); }

}  // namespace
}  // namespace mergewise
