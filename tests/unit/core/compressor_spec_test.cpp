// SPDX-License-Identifier: Apache-2.0
#include "bench/core/compressor_spec.hpp"

#include "bench/core/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mergewise::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Values = std::map<std::string, OptionValue>;

Options options(Values values) { return Options(std::move(values)); }

std::string refusal(const std::string& id, const Options& given) {
  try {
    (void)compressor_spec(id, given);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(CompressorSpec, TakesDefaultsWhereNothingIsSaid) {
  for (const std::string& id : compressor_ids()) {
    const CompressorSpec spec = compressor_spec(id, {}, 7);
    EXPECT_EQ(spec.id, id);
    EXPECT_EQ(spec.memory, compressor_memories(id).front());
    EXPECT_EQ(spec.seed, 7U);
  }
  EXPECT_EQ(compressor_spec("topk").memory, "residual");
  EXPECT_DOUBLE_EQ(compressor_spec("topk").density, 0.001);
}

TEST(CompressorSpec, TakesWhatIsGiven) {
  const CompressorSpec spec = compressor_spec("randk",
                                              options({{"density", 0.5},
                                                       {"indices", "sent"},
                                                       {"messages", std::int64_t{2}},
                                                       {"memory", "residual"},
                                                       {"seed", std::int64_t{3}}}),
                                              7);
  EXPECT_DOUBLE_EQ(spec.density, 0.5);
  EXPECT_TRUE(spec.sends_indices);
  EXPECT_EQ(spec.messages, 2);
  EXPECT_EQ(spec.memory, "residual");
  EXPECT_EQ(spec.seed, 3U);
  EXPECT_TRUE(compressor_spec("onebit", options({{"scale", "group"}})).group_scale);
  EXPECT_FALSE(compressor_spec("dgc", options({{"vectors", "sparse"}})).dense_vectors);
}

TEST(CompressorSpec, MemoriesAreThoseOfTheTable) {
  EXPECT_THAT(compressor_memories("none"), ElementsAre("none"));
  EXPECT_THAT(compressor_memories("fp16"), ElementsAre("none", "residual"));
  EXPECT_THAT(compressor_memories("topk"), ElementsAre("residual", "none"));
  EXPECT_THAT(compressor_memories("signsgd"), ElementsAre("none"));
  EXPECT_THAT(compressor_memories("ef_signsgd"), ElementsAre("residual"));
  EXPECT_THAT(compressor_memories("signum"), ElementsAre("momentum"));
}

TEST(CompressorSpec, RefusesWhatACompressorDoesNotTakeWithTheReason) {
  EXPECT_THAT(refusal("signsgd", options({{"memory", "residual"}})), HasSubstr("expected none"));
  EXPECT_THAT(refusal("onebit", options({{"memory", "none"}})), HasSubstr("expected residual"));
  EXPECT_THAT(refusal("signum", options({{"memory", "none"}})), HasSubstr("expected momentum"));
  EXPECT_THAT(refusal("fp16", options({{"memory", "momentum"}})), HasSubstr("none | residual"));
  EXPECT_THAT(refusal("fp16", options({{"density", 0.1}})), HasSubstr("'fp16'"));
  EXPECT_THAT(refusal("fp61", {}), HasSubstr("fp16"));
  EXPECT_THAT(refusal("randk", options({{"density", 0.0}})), HasSubstr("density"));
  EXPECT_THAT(refusal("randk", options({{"density", 1.5}})), HasSubstr("density"));
  EXPECT_THAT(refusal("qsgd", options({{"bucket", std::int64_t{100}}})),
              HasSubstr("multiple of 8"));
  EXPECT_THAT(refusal("randk", options({{"messages", std::int64_t{2}}})),
              HasSubstr("indices: sent"));
}

}  // namespace
}  // namespace mergewise::test
