// SPDX-License-Identifier: Apache-2.0
#include "bench/cost/algorithm.hpp"

#include "bench/core/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace mergewise {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr LinkCosts kLink{10, 2, 1};

void expect_line(const LinearCost& line, double a_ns, double b_ns_per_byte) {
  EXPECT_DOUBLE_EQ(line.a_ns, a_ns);
  EXPECT_DOUBLE_EQ(line.b_ns_per_byte, b_ns_per_byte);
}

TEST(AllReduceLine, OfEightRanksIsThePublishedTable) {
  expect_line(all_reduce_line(Algorithm::kBinaryTree, kLink, 8), 60, 15);
  expect_line(all_reduce_line(Algorithm::kRecursiveDoubling, kLink, 8), 30, 9);
  expect_line(all_reduce_line(Algorithm::kHalvingDoubling, kLink, 8), 60, 4 - 5.0 / 8 + 1);
  expect_line(all_reduce_line(Algorithm::kDoubleTreePublished, kLink, 8), 60, 3);
  expect_line(all_reduce_line(Algorithm::kRing, kLink, 8), 140, 2 * 7.0 / 8 * 2 + 7.0 / 8);
  expect_line(all_reduce_line(Algorithm::kTree, kLink, 8), 60, 5);
}

TEST(AllReduceLine, RoundsTheStepsUpBetweenPowersOfTwo) {
  expect_line(all_reduce_line(Algorithm::kTree, kLink, 5), 60, 5);
  expect_line(all_reduce_line(Algorithm::kRecursiveDoubling, kLink, 5), 30, 9);
  expect_line(all_reduce_line(Algorithm::kBinaryTree, kLink, 9), 80, 20);
  expect_line(all_reduce_line(Algorithm::kDoubleTreePublished, kLink, 3), 40, 3);
}

TEST(AllReduceLine, HalvingDoublingFoldsTheRanksBeyondAPowerOfTwo) {
  // Four ranks as ever, before and after that one message of everything each.
  expect_line(all_reduce_line(Algorithm::kHalvingDoubling, kLink, 4), 40, 5 * 3.0 / 4);
  for (const int ranks : {5, 6, 7}) {
    expect_line(all_reduce_line(Algorithm::kHalvingDoubling, kLink, ranks), 60, 5 * 3.0 / 4 + 5);
  }
  // Of three ranks two remain.
  expect_line(all_reduce_line(Algorithm::kHalvingDoubling, kLink, 3), 40, 5.0 / 2 + 5);
}

TEST(AllReduceLine, OfOneRankCostsNothing) {
  for (const std::string& name : algorithm_names()) {
    expect_line(all_reduce_line(algorithm_from(name), kLink, 1), 0, 0);
  }
}

TEST(AllReduceLine, IsNeverBelowTheBandwidthBoundButForThePublishedDoubleTree) {
  for (const std::string& name : algorithm_names()) {
    bool below = false;
    for (int ranks = 2; ranks <= 4096; ++ranks) {
      const LinkCosts link{0, 0.8, 0};
      const double bound = 2.0 * (ranks - 1) / ranks * link.beta_ns_per_byte;
      const LinearCost line = all_reduce_line(algorithm_from(name), link, ranks);
      below = below || line.b_ns_per_byte < bound * (1 - 1e-12);
    }
    EXPECT_EQ(below, name == "double_tree_published") << name;
  }
}

TEST(AllGatherLine, SendsWhatTheOthersContribute) {
  expect_line(all_gather_line(Algorithm::kRing, kLink, 8), 70, 14);
  expect_line(all_gather_line(Algorithm::kRecursiveDoubling, kLink, 8), 30, 14);
  expect_line(all_gather_line(Algorithm::kRecursiveDoubling, kLink, 9), 40, 16);
  expect_line(all_gather_line(Algorithm::kRing, kLink, 1), 0, 0);
}

TEST(AllGatherLine, IsByRingOrRecursiveDoublingOnly) {
  EXPECT_THROW((void)all_gather_line(Algorithm::kTree, kLink, 4), std::logic_error);
}

TEST(ReduceScatterLine, IsHalfARing) {
  expect_line(reduce_scatter_line(kLink, 4), 30, 3 * 3.0 / 4);
  expect_line(reduce_scatter_line(kLink, 1), 0, 0);
}

TEST(Algorithm, NamesLeadBack) {
  EXPECT_EQ(algorithm_names().size(), 6U);
  for (const std::string& name : algorithm_names()) {
    EXPECT_EQ(name_of(algorithm_from(name)), name);
  }
}

TEST(Algorithm, RefusesAnUnknownNameWithTheValidOnes) {
  EXPECT_THAT(
      [] { (void)algorithm_from("rign"); },
      ThrowsMessage<InputError>(HasSubstr("unknown algorithm 'rign', did you mean 'ring'")));
}

}  // namespace
}  // namespace mergewise
