// SPDX-License-Identifier: Apache-2.0
#include "bench/replay/gradients.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace mergewise {
namespace {

TEST(Gradients, ReducedValueIsTheSumOverRanks) {
  for (const int ranks : {1, 2, 3, 63, 64, 65, 200}) {
    for (std::size_t tensor : {0U, 1U, 160U}) {
      for (std::size_t element : {0U, 1U, 2U, 1000003U}) {
        double sum = 0;
        for (int rank = 0; rank < ranks; ++rank) sum += local_gradient(rank, tensor, element);
        EXPECT_EQ(sum, reduced_gradient(ranks, tensor, element));
      }
    }
  }
}

TEST(Gradients, EveryPartialSumOf4096RanksIsExactInFp32) {
  double bound = 0;
  for (int rank = 0; rank < 4096; ++rank) {
    double largest = 0;
    for (std::size_t element = 0; element < 200; ++element) {
      largest = std::max(largest, std::abs(static_cast<double>(local_gradient(rank, 7, element))));
    }
    bound += largest;
  }
  EXPECT_LT(bound, 16777216.0);
}

TEST(Gradients, DifferBetweenRanksTensorsAndElements) {
  int equal_ranks = 0;
  int equal_tensors = 0;
  int equal_elements = 0;
  for (std::size_t i = 0; i < 1000; ++i) {
    equal_ranks += local_gradient(0, 3, i) == local_gradient(1, 3, i) ? 1 : 0;
    equal_tensors += local_gradient(0, 3, i) == local_gradient(0, 4, i) ? 1 : 0;
    equal_elements += local_gradient(0, 3, i) == local_gradient(0, 3, i + 1) ? 1 : 0;
  }
  EXPECT_EQ(equal_ranks, 0);
  EXPECT_LT(equal_tensors, 50);
  EXPECT_LT(equal_elements, 50);
}

TEST(Gradients, MismatchNamesElementFoundAndExpected) {
  std::vector<float> values(10);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = reduced_gradient(4, 2, i);
  EXPECT_FALSE(find_mismatch(values, 4, 2).has_value());
  values[6] += 1;
  const auto mismatch = find_mismatch(values, 4, 2);
  ASSERT_TRUE(mismatch.has_value());
  EXPECT_EQ(mismatch->element, 6U);
  EXPECT_EQ(mismatch->found, mismatch->expected + 1);
}

TEST(Gradients, NanIsAMismatch) {
  std::vector<float> values{reduced_gradient(2, 0, 0), std::numeric_limits<float>::quiet_NaN()};
  const auto mismatch = find_mismatch(values, 2, 0);
  ASSERT_TRUE(mismatch.has_value());
  EXPECT_EQ(mismatch->element, 1U);
}

}  // namespace
}  // namespace mergewise
