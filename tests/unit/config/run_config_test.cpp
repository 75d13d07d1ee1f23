// SPDX-License-Identifier: Apache-2.0
#include "bench/config/run_config.hpp"

#include "tests/temporary_folder.hpp"
#include "tests/unit/config/sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace mergewise {
namespace {

using ::testing::ElementsAre;
using testing::kComplete;
using testing::kRequired;
using testing::run_config_of;
using testing::sample_vocabulary;

Options options(const std::string& name, OptionValue value) {
  Options result;
  result.set(name, std::move(value));
  return result;
}

TEST(RunConfig, ReadsEveryKey) {
  const RunConfig config = run_config_of(kComplete);
  EXPECT_EQ(config.name, "quickstart");
  ASSERT_EQ(config.workloads.size(), 1U);
  EXPECT_EQ(config.workloads[0].model, "resnet50");
  EXPECT_EQ(config.workloads[0].batch, 64);
  ASSERT_EQ(config.strategies.size(), 5U);
  EXPECT_EQ(config.strategies[0], (ChoiceConfig{"wfbp", {}}));
  EXPECT_EQ(config.strategies[2],
            (ChoiceConfig{"ddp", options("cap_bytes", std::int64_t{26214401})}));
  ASSERT_EQ(config.compressors.size(), 2U);
  EXPECT_EQ(config.compressors[1].id, "topk");
  EXPECT_EQ(config.compressors[1].options.number("density"), 0.01);
  EXPECT_EQ(config.compressors[1].options.word("memory"), "none");
  EXPECT_THAT(config.ranks, ElementsAre(2, 4));
  EXPECT_EQ(config.device, "cpu");
  EXPECT_EQ(config.collective, "gloo");
  EXPECT_EQ(config.compute.mode, "gemm");
  EXPECT_EQ(config.compute.accelerator, "a100");
  ASSERT_TRUE(config.link.has_value());
  EXPECT_EQ(config.link->a_us, 8000);
  EXPECT_EQ(config.link->gbps, 2.5);
  EXPECT_EQ(config.accumulation, 4);
  EXPECT_EQ(config.buffers, "copy");
  EXPECT_EQ(config.iterations.block, 4);
  EXPECT_EQ(config.iterations.max, 40);
  EXPECT_EQ(config.iterations.target, 0.05);
  EXPECT_EQ(config.budget_ns, 150e9);
  EXPECT_EQ(config.seed, 7U);
  EXPECT_EQ(config.deadline_ns, 30e9);
}

TEST(RunConfig, HasDefaultsForAllThatIsNotRequired) {
  const RunConfig config = run_config_of(kRequired);
  EXPECT_THAT(config.compressors, ElementsAre(ChoiceConfig{"none", {}}));
  EXPECT_THAT(config.ranks, ElementsAre(1));
  EXPECT_EQ(config.compute.mode, "timed");
  EXPECT_EQ(config.compute.accelerator, "v100");
  EXPECT_FALSE(config.link.has_value());
  EXPECT_EQ(config.accumulation, 1);
  EXPECT_EQ(config.buffers, "slice");
  EXPECT_EQ(config.iterations, (RunConfig::Iterations{5, 50, 0.02}));
  EXPECT_EQ(config.budget_ns, 0);
  EXPECT_EQ(config.seed, 1U);
  EXPECT_EQ(config.deadline_ns, 60e9);
}

TEST(RunConfig, TakesOneNumberForRanks) {
  EXPECT_THAT(run_config_of(kRequired + "ranks: 4\n").ranks, ElementsAre(4));
}

TEST(RunConfig, TakesTheLimitsOfEveryRange) {
  const RunConfig config = run_config_of(kRequired +
                                         "ranks: [1, 65536]\n"
                                         "link: {a_us: 0, gbps: 1e-3}\n"
                                         "iterations: {block: 1, max: 1, target: 0.999}\n"
                                         "seed: 0\n");
  EXPECT_THAT(config.ranks, ElementsAre(1, 65536));
  EXPECT_EQ(config.iterations.max, 1);
  EXPECT_EQ(config.seed, 0U);
}

TEST(RunConfig, KeepsModelArguments) {
  const RunConfig config = run_config_of(
      "name: demo\n"
      "workloads: [{model: vgg16, batch: 1, image_size: 96}, {model: bert_base, batch: 8, "
      "sequence_length: 128}]\n"
      "strategies: [wfbp]\n");
  EXPECT_EQ(config.workloads[0].image_size, 96);
  EXPECT_EQ(config.workloads[1].sequence_length, 128);
}

TEST(RunConfig, TheSameModelWithOtherArgumentsIsAnotherWorkload) {
  EXPECT_NO_THROW(
      (void)run_config_of("name: demo\n"
                          "workloads: [{model: vgg16, batch: 1}, {model: vgg16, batch: 2}]\n"
                          "strategies: [ddp, {ddp: {cap_bytes: 1e6}}]\n"));
}

TEST(RunConfig, ChecksOptionsAndGivesThemTheirType) {
  const RunConfig config = run_config_of(
      "name: demo\n"
      "workloads: [{model: vgg16, batch: 1}]\n"
      "strategies: [{ddp: {cap_bytes: 1e6, first_cap_bytes: auto}}, {wfbp: {}}]\n");
  EXPECT_EQ(config.strategies[0].options.integer("cap_bytes"), 1'000'000);
  EXPECT_TRUE(config.strategies[0].options.is_word("first_cap_bytes", "auto"));
  EXPECT_TRUE(config.strategies[1].options.values().empty());
}

TEST(RunConfig, PathsAreRelativeToTheConfigFile) {
  const TemporaryFolder folder;
  folder.write("profiles/p.json", "{}");
  folder.write("configs/model.yaml", "x");
  folder.write("configs/gpu.yaml", "x");
  const auto file = folder.write("configs/run.yaml",
                                 "name: demo\n"
                                 "workloads: [{profile: ../profiles/p.json}, {file: model.yaml}]\n"
                                 "strategies: [wfbp]\n"
                                 "compute: {accelerator: gpu.yaml}\n");
  const RunConfig config = load_run_config(file, sample_vocabulary());
  EXPECT_EQ(config.workloads[0].profile, folder.path() / "profiles/p.json");
  EXPECT_EQ(config.workloads[1].file, folder.path() / "configs/model.yaml");
  EXPECT_EQ(config.compute.accelerator, (folder.path() / "configs/gpu.yaml").string());
  EXPECT_EQ(config.source, file);
}

TEST(RunConfig, AnAbsolutePathIsTakenAsItIs) {
  const TemporaryFolder folder;
  const auto profile = folder.write("p.json", "{}");
  const RunConfig config = run_config_of("name: demo\nworkloads: [{profile: " + profile.string() +
                                         "}]\nstrategies: [wfbp]\n");
  EXPECT_EQ(config.workloads[0].profile, profile);
}

TEST(RunConfig, ReadsJsonToo) {
  const RunConfig config = run_config_of(
      R"({"name": "demo", "workloads": [{"model": "vgg16", "batch": 2}], "strategies": ["wfbp"]})");
  EXPECT_EQ(config.workloads[0].batch, 2);
}

TEST(RunConfigJson, ReadAgainGivesAnEqualConfig) {
  const TemporaryFolder folder;
  const auto profile = folder.write("p.json", "{}");
  for (const std::string& text :
       {kRequired, kComplete, kRequired + "budget: 1.7h\ndeadline: 0.1\nranks: 8\n",
        "name: demo\nworkloads: [{profile: " + profile.string() +
            "}, {model: vgg16, batch: 1, image_size: 96}]\nstrategies: [{ddp: {first_cap_bytes: "
            "auto}}]\n"}) {
    SCOPED_TRACE(text);
    const RunConfig config = run_config_of(text);
    EXPECT_EQ(run_config_of(to_json(config).dump()), config);
  }
}

TEST(RunConfigJson, IsCompleteAndInTheFilesForm) {
  const auto expected = nlohmann::json::parse(R"({
    "name": "demo",
    "workloads": [{"model": "resnet50", "batch": 64}],
    "strategies": ["wfbp"],
    "compressors": ["none"],
    "ranks": [1],
    "device": "cpu",
    "collective": "gloo",
    "compute": {"mode": "timed", "accelerator": "v100"},
    "link": {"a_us": 1.5, "gbps": 10.0},
    "accumulation": 1,
    "grad_dtype": "fp32",
    "buffers": "slice",
    "iterations": {"block": 5, "max": 50, "target": 0.02},
    "budget": "150000ms",
    "seed": 1,
    "deadline": "60000ms"
  })");
  EXPECT_EQ(to_json(run_config_of(kRequired + "link: {a_us: 1.5, gbps: 10}\nbudget: 150s\n")),
            expected);
}

}  // namespace
}  // namespace mergewise
