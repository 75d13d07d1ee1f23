// SPDX-License-Identifier: Apache-2.0
#include "bench/cost/wire.hpp"

#include "bench/core/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace mergewise {
namespace {

using ::testing::HasSubstr;

WireFormat topk(double density, Bytes element_bytes = 4) {
  return {"topk", density, element_bytes};
}

TEST(WireFormat, DenseGradientsTravelAsTheyAre) {
  const WireFormat wire;
  EXPECT_EQ(wire.collective(), Collective::kAllReduce);
  EXPECT_EQ(wire.wire_bytes(0, 1), 0);
  EXPECT_EQ(wire.wire_bytes(4096, 1), 4096);
}

TEST(WireFormat, TopkSendsIndexAndValueOfEachKeptElement) {
  EXPECT_EQ(topk(0.001).collective(), Collective::kAllGather);
  EXPECT_EQ(topk(0.001).wire_bytes(4'000'000, 1), 8 * 1000);
  EXPECT_EQ(topk(0.01).wire_bytes(4 * 1999, 1), 8 * 19) << "rounded down";
}

TEST(WireFormat, TopkKeepsOneElementAtLeastAndAllAtMost) {
  EXPECT_EQ(topk(0.001).wire_bytes(0, 1), 0);
  EXPECT_EQ(topk(0.001).wire_bytes(4, 1), 8);
  EXPECT_EQ(topk(1).wire_bytes(400, 1), 8 * 100);
}

TEST(WireFormat, TopkCountsElementsOfTheirOwnSize) {
  EXPECT_EQ(topk(0.01, 2).wire_bytes(2000, 1), 8 * 10);
}

TEST(WireFormat, DensityIsTakenInDouble) {
  // 0.29 * 100 is 28.999999999999996 in double.
  EXPECT_EQ(topk(0.29).wire_bytes(400, 1), 8 * 28);
}

TEST(WireFormat, RefusesAnUnknownCompressorWithTheValidOnes) {
  try {
    const WireFormat wire("topkk", 0.001, 4);
    FAIL() << "expected an error";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'topk'"));
    EXPECT_THAT(error.what(), HasSubstr("none"));
  }
}

TEST(WireFormat, RefusesADensityOutsideItsRange) {
  for (const double density : {0.0, -0.1, 1.0001, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(topk(density), InputError) << density;
  }
  EXPECT_NO_THROW(topk(1));
  EXPECT_NO_THROW(topk(1e-9));
}

TEST(Collective, HasTheNameThatFilesUse) {
  EXPECT_STREQ(name_of(Collective::kAllReduce), "all_reduce");
  EXPECT_STREQ(name_of(Collective::kAllGather), "all_gather");
  EXPECT_STREQ(name_of(Collective::kReduceScatter), "reduce_scatter");
  for (const Collective collective : kCollectives) {
    EXPECT_EQ(collective_from(name_of(collective)), collective);
  }
}

TEST(Collective, NamesTheValidOnesForAnUnknownOne) {
  EXPECT_THAT([] { (void)collective_from("reduce"); },
              ::testing::ThrowsMessage<InputError>(
                  HasSubstr("Valid: all_reduce, all_gather, reduce_scatter")));
}

}  // namespace
}  // namespace mergewise
