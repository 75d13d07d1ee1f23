// SPDX-License-Identifier: Apache-2.0
#include "bench/app/compressors.hpp"

#include "bench/app/simulation.hpp"
#include "bench/app/vocabulary.hpp"
#include "bench/core/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mergewise {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Compressors, AreListedWithWhatTheySendAndTheirOptions) {
  std::vector<std::string> ids;
  for (const CompressorEntry& entry : compressors()) {
    ids.push_back(entry.id);
    EXPECT_THAT(entry.summary, HasSubstr("; all-")) << entry.id;
    EXPECT_EQ(entry.options.size(), compressor_options(entry.id).size());
  }
  EXPECT_EQ(ids, compressor_ids());
}

TEST(Compressors, AllAreTakenByRunsAndSimulations) {
  for (const std::string& id : compressor_ids()) {
    EXPECT_TRUE(vocabulary().compressors.contains(id)) << id;
    EXPECT_TRUE(simulation_vocabulary().compressors.contains(id)) << id;
  }
}

TEST(Compressors, AreLabelledByTheOptionsThatAreNotTheDefaults) {
  EXPECT_EQ(label_of({"topk", {}}), "topk");
  EXPECT_EQ(label_of(parse_compressor("topk,density=0.001,memory=residual")), "topk");
  EXPECT_EQ(label_of(parse_compressor("topk,memory=none,density=0.5")),
            "topk density=0.5 memory=none");
  EXPECT_EQ(label_of(parse_compressor("topk,density=1")), "topk density=1");
  EXPECT_EQ(label_of(parse_compressor("onebit,scale=group")), "onebit scale=group");
}

TEST(Compressors, ACommandLineGivesIdAndOptions) {
  const ChoiceConfig parsed = parse_compressor("randk,indices=sent,messages=2");
  EXPECT_EQ(parsed.id, "randk");
  const CompressorSpec spec = compressor_spec(parsed.id, parsed.options);
  EXPECT_TRUE(spec.sends_indices);
  EXPECT_EQ(spec.messages, 2);
}

TEST(Compressors, SaysWhatIsWrongWithACommandLine) {
  const auto parse = [](const char* text) { return [text] { (void)parse_compressor(text); }; };
  EXPECT_THAT(parse("topkk"), ThrowsMessage<InputError>(HasSubstr("did you mean 'topk'")));
  EXPECT_THAT(parse("topk,density"), ThrowsMessage<InputError>(HasSubstr("density")));
  EXPECT_THAT(parse("topk,"), ThrowsMessage<InputError>(HasSubstr("=")));
  EXPECT_THAT(parse("topk,bucket=3"),
              ThrowsMessage<InputError>(AllOf(HasSubstr("'topk'"), HasSubstr("bucket"))));
  EXPECT_THAT(parse("randk,messages=2"), ThrowsMessage<InputError>(HasSubstr("indices")));
}

TEST(Compressors, AllIsEachOfThemOnce) {
  const auto all = parse_compressors({"all"});
  EXPECT_EQ(all.size(), compressor_ids().size() - 1) << "none costs nothing";
  EXPECT_EQ(parse_compressors({"topk", "topk,density=0.5"}).size(), 2U);
  EXPECT_THAT(
      [] {
        (void)parse_compressors({"topk", "topk,density=1e-3"});
      },
      ThrowsMessage<InputError>(HasSubstr("given twice")));
}

TEST(Compressors, AConfigIsRefusedWhereOptionsDoNotGoTogether) {
  const std::string text =
      "name: x\n"
      "workloads: [{model: resnet50, batch: 1}]\n"
      "strategies: [wfbp]\n"
      "compressors: [none, {randk: {messages: 2}}]\n";
  EXPECT_THAT(
      [&] {
        (void)run_config_from(parse_text(text, "c.yaml", kConfigLimits), "c.yaml", vocabulary());
      },
      ThrowsMessage<InputError>(AllOf(HasSubstr("c.yaml:4:"), HasSubstr("indices"))));
}

}  // namespace
}  // namespace mergewise
