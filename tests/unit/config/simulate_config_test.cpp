// SPDX-License-Identifier: Apache-2.0
#include "bench/config/simulate_config.hpp"

#include "tests/temporary_folder.hpp"
#include "tests/unit/config/sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace mergewise {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// All that is required, in five lines.
const std::string kRequired =
    "name: demo\n"
    "workloads: [{model: resnet50, batch: 64}]\n"
    "strategies: [wfbp]\n"
    "clusters: [ethernet_10g]\n"
    "ranks: [4]\n";

SimulateConfig config_of(const std::string& text,
                         const std::filesystem::path& source = "bad.yaml") {
  ConfigVocabulary words = testing::sample_vocabulary();
  words.clusters = {"ethernet_10g", "v100_nvlink"};
  return simulate_config_from(parse_text(text, source.string(), kConfigLimits), source, words);
}

const std::string kComplete =
    "name: map\n"
    "workloads: [{model: resnet50, batch: 64}, {model: vgg16, batch: 32}]\n"
    "strategies: [wfbp, {ddp: {cap_bytes: 1000}}]\n"
    "compressors: [none, {topk: {density: 0.01}}]\n"
    "accelerators: [v100, a100]\n"
    "clusters: [ethernet_10g, v100_nvlink]\n"
    "ranks: [2, 4, 4096]\n"
    "bandwidths_gbps: [1, 2.5]\n"
    "grad_dtype: fp16\n"
    "accumulation: 4\n"
    "compressor_costs: {topk: {compress: {model: linear}, decompress: {model: linear}}}\n"
    "pack: {model: linear}\n"
    "unpack: {model: linear}\n"
    "update: {model: linear}\n";

TEST(SimulateConfig, ReadsEveryKey) {
  const SimulateConfig config = config_of(kComplete);
  EXPECT_EQ(config.name, "map");
  EXPECT_EQ(config.workloads.size(), 2U);
  EXPECT_EQ(config.strategies.size(), 2U);
  ASSERT_EQ(config.compressors.size(), 2U);
  EXPECT_EQ(config.compressors[1].options.number("density"), 0.01);
  EXPECT_THAT(config.accelerators, ElementsAre("v100", "a100"));
  EXPECT_THAT(config.clusters, ElementsAre("ethernet_10g", "v100_nvlink"));
  EXPECT_THAT(config.ranks, ElementsAre(2, 4, 4096));
  EXPECT_THAT(config.bandwidths_gbps, ElementsAre(1, 2.5));
  EXPECT_EQ(config.grad_dtype, "fp16");
  EXPECT_EQ(config.accumulation, 4);
  ASSERT_TRUE(config.compressor_costs.has_value());
  EXPECT_EQ(config.compressor_costs->at("topk").at("compress").at("model").text(), "linear");
  EXPECT_TRUE(config.pack && config.unpack && config.update);
}

TEST(SimulateConfig, LeavesToTheWorkloadWhatIsNotGiven) {
  const SimulateConfig config = config_of(kRequired);
  EXPECT_THAT(config.compressors, ElementsAre(ChoiceConfig{"none", {}}));
  EXPECT_THAT(config.accelerators, ElementsAre("v100"));
  EXPECT_THAT(config.bandwidths_gbps, IsEmpty());
  EXPECT_FALSE(config.grad_dtype || config.accumulation || config.compressor_costs);
  EXPECT_FALSE(config.pack || config.unpack || config.update);
}

TEST(SimulateConfig, AProfileNeedsNoClusters) {
  const TemporaryFolder folder;
  folder.write("profile.json", "{}");
  const SimulateConfig config =
      config_of("name: own\nworkloads: [{profile: profile.json}]\nstrategies: [wfbp]\n",
                folder.path() / "own.yaml");
  EXPECT_THAT(config.clusters, IsEmpty());
  EXPECT_THAT(config.ranks, IsEmpty());
}

TEST(SimulateConfig, PathsAreRelativeToTheConfig) {
  const TemporaryFolder folder;
  folder.write("mine.yaml", "");
  const SimulateConfig config = config_of(
      "name: demo\nworkloads: [{model: resnet50, batch: 1}]\nstrategies: [wfbp]\n"
      "accelerators: [mine.yaml]\nclusters: [mine.yaml]\nranks: 8\n",
      folder.path() / "demo.yaml");
  EXPECT_THAT(config.accelerators, ElementsAre(folder.path() / "mine.yaml"));
  EXPECT_THAT(config.clusters, ElementsAre(folder.path() / "mine.yaml"));
  EXPECT_THAT(config.ranks, ElementsAre(8));
}

TEST(SimulateConfig, AsJsonItReadsBackButForCosts) {
  const SimulateConfig config = config_of(kComplete);
  const nlohmann::json json = to_json(config);
  EXPECT_EQ(to_json(config_of(json.dump())), json);
  EXPECT_EQ(json["clusters"], config.clusters);
  EXPECT_EQ(json["bandwidths_gbps"], config.bandwidths_gbps);
  EXPECT_FALSE(json.contains("pack"));
}

struct Wrong {
  const char* label;
  std::string text;
  const char* place;  // LINE:COLUMN
  const char* says;
};

void PrintTo(const Wrong& wrong, std::ostream* out) { *out << wrong.label; }

std::string label_of(const ::testing::TestParamInfo<Wrong>& info) { return info.param.label; }

class SimulateConfigRefuses : public ::testing::TestWithParam<Wrong> {};

TEST_P(SimulateConfigRefuses, AtTheExactPlace) {
  const Wrong& wrong = GetParam();
  try {
    (void)config_of(wrong.text);
    FAIL() << "accepted:\n" << wrong.text;
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), ::testing::StartsWith("bad.yaml:" + std::string(wrong.place) + ": "));
    EXPECT_THAT(error.what(), ::testing::HasSubstr(wrong.says));
  }
}

// With one more line (line 6).
std::string with(const std::string& line) { return kRequired + line + "\n"; }

// A line more than any list may have cases: 449 ranks x 449 bandwidths.
std::string too_many() {
  std::string numbers = "1";
  for (int i = 2; i < 450; ++i) numbers += "," + std::to_string(i);
  return "name: demo\nworkloads: [{model: resnet50, batch: 64}]\nstrategies: [wfbp]\n"
         "clusters: [ethernet_10g]\nranks: [" +
         numbers + "]\nbandwidths_gbps: [" + numbers + "]\n";
}

INSTANTIATE_TEST_SUITE_P(
    Values, SimulateConfigRefuses,
    ::testing::Values(
        Wrong{"UnknownKey", with("bandwidth_gbps: [1]"), "6:1", "did you mean 'bandwidths_gbps'?"},
        Wrong{"KeyOfARun", with("seed: 1"), "6:1", "unknown key 'seed'"},
        Wrong{"NoRanks",
              "name: demo\nworkloads: [{model: resnet50, batch: 64}]\nstrategies: [wfbp]\n"
              "clusters: [ethernet_10g]\n",
              "1:1", "the key 'ranks' is missing"},
        Wrong{"UnknownCluster",
              "name: demo\nworkloads: [{model: resnet50, batch: 64}]\nstrategies: [wfbp]\n"
              "clusters: [ethernet_10]\nranks: [2]\n",
              "4:12", "unknown cluster 'ethernet_10', did you mean 'ethernet_10g'?"},
        Wrong{"RepeatedCluster",
              "name: demo\nworkloads: [{model: resnet50, batch: 64}]\nstrategies: [wfbp]\n"
              "clusters: [ethernet_10g, ethernet_10g]\nranks: [2]\n",
              "4:26", "already given at bad.yaml:4:12"},
        Wrong{"MissingClusterFile",
              "name: demo\nworkloads: [{model: resnet50, batch: 64}]\nstrategies: [wfbp]\n"
              "clusters: [mine.yaml]\nranks: [2]\n",
              "4:12", "there is no file 'mine.yaml'"},
        Wrong{"NoClusterForAModel",
              "name: demo\nworkloads: [{model: resnet50, batch: 64}]\nstrategies: [wfbp]\n", "2:13",
              "expected `clusters`"},
        Wrong{
            "RanksWithoutClusters",
            "name: demo\nworkloads: [{model: resnet50, batch: 64}]\nstrategies: [wfbp]\nranks: 2\n",
            "4:8", "goes with `clusters`"},
        Wrong{"ZeroBandwidth", with("bandwidths_gbps: [1, 0]"), "6:22",
              "a number from 1e-06 to 1000000000"},
        Wrong{"RepeatedBandwidth", with("bandwidths_gbps: [1, 1.0]"), "6:22",
              "already given at bad.yaml:6:19"},
        Wrong{"NoBandwidth", with("bandwidths_gbps: []"), "6:18", "at least one bandwidth"},
        Wrong{"UnknownDtype", with("grad_dtype: fp8"), "6:13", "Valid: fp32, fp16, bf16"},
        Wrong{"NoMicroBatch", with("accumulation: 0"), "6:15", "from 1 to"},
        Wrong{"CostsOfAnUnknownCompressor", with("compressor_costs: {tpk: {}}"), "6:20",
              "unknown compressor 'tpk', did you mean 'topk'?"},
        Wrong{"CostsOfNoCompressor", with("compressor_costs: {none: {}}"), "6:20", "Valid: topk"},
        Wrong{"TooManyCases", too_many(), "2:12", "make 201601 cases, expected at most 200000"}),
    label_of);

TEST(SimulateConfig, RefusesAcceleratorsThatNoWorkloadRunsOn) {
  const TemporaryFolder folder;
  folder.write("profile.json", "{}");
  try {
    (void)config_of(
        "name: own\nworkloads: [{profile: profile.json}]\nstrategies: [wfbp]\naccelerators: "
        "[v100]\n",
        folder.path() / "own.yaml");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("own.yaml:4:15: no workload here is a model"));
  }
}

}  // namespace
}  // namespace mergewise
