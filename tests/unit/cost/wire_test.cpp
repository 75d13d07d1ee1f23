// SPDX-License-Identifier: Apache-2.0
#include "bench/cost/wire.hpp"

#include "bench/core/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <string>

namespace mergewise {
namespace {

using ::testing::HasSubstr;

WireFormat topk(double density, Bytes element_bytes = 4) {
  return {{.id = "topk", .density = density}, element_bytes};
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
    const WireFormat wire({.id = "topkk"}, 4);
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

WireFormat wire_of(const std::string& id, const std::map<std::string, OptionValue>& options = {}) {
  return {compressor_spec(id, Options(options)), 4};
}

TEST(WireFormat, AScaleForTheGroupIsSentOnce) {
  EXPECT_EQ(wire_of("onebit").wire_bytes(4 * 80, 3), 10 + 3 * 8);
  EXPECT_EQ(wire_of("onebit", {{"scale", "group"}}).wire_bytes(4 * 80, 3), 10 + 8);
  EXPECT_EQ(wire_of("ef_signsgd", {{"scale", "group"}}).wire_bytes(4 * 80, 3), 10 + 4);
  EXPECT_EQ(wire_of("terngrad", {{"scale", "group"}}).wire_bytes(4 * 81, 3), 21 + 4);
}

TEST(WireFormat, QsgdSendsANormForEachBucket) {
  EXPECT_EQ(wire_of("qsgd").wire_bytes(4 * 1025, 1), 1025 + 4 * 3);
  EXPECT_EQ(wire_of("qsgd", {{"bucket", std::int64_t{64}}}).wire_bytes(4 * 1025, 1), 1025 + 4 * 17);
  EXPECT_EQ(wire_of("qsgd", {{"bucket", std::int64_t{0}}}).wire_bytes(4 * 1025, 5), 1025 + 4);
}

TEST(WireFormat, RandkThatSendsItsPlacesIsGathered) {
  EXPECT_EQ(wire_of("randk").collective(), Collective::kAllReduce);
  EXPECT_EQ(wire_of("randk").wire_bytes(4'000'000, 1), 4 * 1000);
  const WireFormat sent = wire_of("randk", {{"indices", "sent"}});
  EXPECT_EQ(sent.collective(), Collective::kAllGather);
  EXPECT_EQ(sent.wire_bytes(4'000'000, 1), 8 * 1000);
}

TEST(WireFormat, IndicesApartAreAMessageOfTheirOwn) {
  EXPECT_EQ(wire_of("topk").messages(), 1);
  const WireFormat apart = wire_of("topk", {{"messages", std::int64_t{2}}});
  EXPECT_EQ(apart.messages(), 2);
  EXPECT_EQ(apart.wire_bytes(4'000'000, 1), 8 * 1000);
}

TEST(WireFormat, DgcSendsTensorsOfOneDimensionAsTheyAre) {
  const WireFormat dgc = wire_of("dgc", {{"density", 0.01}});
  EXPECT_EQ(dgc.wire_bytes(4 * 1000, 2), 8 * 10) << "no vector";
  EXPECT_EQ(dgc.wire_bytes(4 * 1000, 2, 4 * 150), 8 * 8 + 4 * 150) << "1 % of the other 850";
  EXPECT_EQ(dgc.wire_bytes(4 * 150, 1, 4 * 150), 4 * 150) << "nothing to select from";
  EXPECT_EQ(dgc.wire_bytes(4 * 151, 2, 4 * 150), 8 + 4 * 150);
  const WireFormat sparse = wire_of("dgc", {{"density", 0.01}, {"vectors", "sparse"}});
  EXPECT_EQ(sparse.wire_bytes(4 * 1000, 2, 4 * 150), 8 * 10);
  EXPECT_EQ(wire_of("topk", {{"density", 0.01}}).wire_bytes(4 * 1000, 2, 4 * 150), 8 * 10);
}

TEST(WireFormat, AVectorsElementsAreThoseOfTheGradientsType) {
  const WireFormat half(compressor_spec("dgc"), 2);
  EXPECT_EQ(half.wire_bytes(2 * 100, 1, 2 * 100), 4 * 100) << "sent as fp32";
}

TEST(WireFormat, IndicesOfHugeGroupsAreWider) {
  const WireFormat wire(
      compressor_spec("topk", Options(std::map<std::string, OptionValue>{{"density", 1.0}})), 4);
  constexpr Bytes kMost = (Bytes{1} << 31) - 1;
  EXPECT_EQ(wire.wire_bytes(4 * kMost, 1), 8 * kMost);
  EXPECT_EQ(wire.wire_bytes(4 * (kMost + 1), 1), 12 * (kMost + 1));
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
