// SPDX-License-Identifier: Apache-2.0
#include "bench/app/simulation.hpp"
#include "bench/core/error.hpp"
#include "tests/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mergewise {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr const char* kProfile = R"({"schema": "mergewise/profile/1", "name": "traced",
  "forward_ns": 100, "ranks": 4, "grad_dtype": "fp32",
  "tensors": [{"name": "a", "bytes": 400, "backward_ns": 10},
              {"name": "b", "bytes": 800, "backward_ns": 20}],
  "all_reduce": {"model": "linear", "a_ns": 5, "b_ns_per_byte": 1},
  "compressors": {"topk": {"compress": {"model": "linear", "a_ns": 7, "b_ns_per_byte": 0},
                           "decompress": {"model": "linear", "a_ns": 8, "b_ns_per_byte": 0}}},
  "update": {"model": "linear", "a_ns": 9, "b_ns_per_byte": 0}})";

constexpr const char* kCluster =
    "schema: mergewise/cluster/1\nname: mine\ndescription: d\nsource: s\n"
    "network: {alpha_us: 1, gbps: 10}\n";

constexpr const char* kLines =
    "schema: mergewise/cluster/1\nname: lines\ndescription: d\nsource: s\n"
    "all_reduce: [{ranks: 4, a_us: 1, b_ns_per_byte: 1}]\n";

// A folder with a profile, two clusters and a config.
class SimulationInputs : public ::testing::Test {
 protected:
  SimulationInputs() {
    folder_.write("profile.json", kProfile);
    folder_.write("mine.yaml", kCluster);
    folder_.write("lines.yaml", kLines);
  }

  Simulation load(const std::string& config) {
    const auto file = folder_.write("config.yaml", "name: demo\nstrategies: [wfbp]\n" + config);
    return load_simulation(load_simulate_config(file, simulation_vocabulary()));
  }

  std::string refusal(const std::string& config) {
    try {
      (void)load(config);
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  }

  TemporaryFolder folder_;
};

const std::string kTraced = "workloads: [{profile: profile.json}]\n";
const std::string kOnMine = kTraced + "clusters: [mine.yaml]\nranks: [2]\n";

TEST_F(SimulationInputs, AProfileKeepsItsTypeAndItsCosts) {
  const Simulation simulation = load(kOnMine);
  ASSERT_THAT(simulation.workloads, SizeIs(1));
  const Profile& profile = simulation.workloads[0].profile;
  EXPECT_EQ(profile.tensors[0].bytes, 400);
  EXPECT_EQ(profile.accumulation, 1);
  EXPECT_EQ(profile.update(1), 9);
  EXPECT_EQ(profile.compressors.at("topk").compress(1), 7);
  EXPECT_EQ(simulation.workloads[0].accelerator, "");
  ASSERT_THAT(simulation.networks, SizeIs(1));
  EXPECT_EQ(simulation.networks[0].cluster.name, "mine");
  EXPECT_DOUBLE_EQ(simulation.networks[0].gbps, 10);
}

TEST_F(SimulationInputs, TheConfigBeatsTheProfile) {
  const Simulation simulation =
      load(kOnMine +
           "grad_dtype: fp16\naccumulation: 3\n"
           "update: {model: linear, a_ns: 1, b_ns_per_byte: 0}\n"
           "compressor_costs: {topk: {compress: {model: linear, a_ns: 2, b_ns_per_byte: 0}, "
           "decompress: {model: linear, a_ns: 3, b_ns_per_byte: 0}}}\n");
  const Profile& profile = simulation.workloads[0].profile;
  EXPECT_EQ(profile.grad_dtype, DType::kFloat16);
  EXPECT_EQ(profile.tensors[0].bytes, 200);
  EXPECT_EQ(profile.tensors[1].bytes, 400);
  EXPECT_EQ(profile.accumulation, 3);
  EXPECT_EQ(profile.update(1), 1);
  EXPECT_EQ(profile.compressors.at("topk").decompress(1), 3);
  EXPECT_EQ(simulation.config["update"]["a_ns"], 1);
  EXPECT_EQ(simulation.config["compressor_costs"]["topk"]["compress"]["a_ns"], 2);
}

TEST_F(SimulationInputs, AModelIsAWorkloadOnEachAccelerator) {
  const Simulation simulation = load(
      "workloads: [{model: resnet18, batch: 4}, {profile: profile.json}]\n"
      "accelerators: [v100, a100]\nclusters: [mine.yaml]\nranks: [2]\n");
  ASSERT_THAT(simulation.workloads, SizeIs(3));
  EXPECT_EQ(simulation.workloads[0].accelerator, "v100");
  EXPECT_EQ(simulation.workloads[1].accelerator, "a100");
  EXPECT_EQ(simulation.workloads[2].accelerator, "");
  EXPECT_EQ(simulation.workloads[0].batch, 4);
  EXPECT_EQ(simulation.workloads[0].times, "modelled");
  EXPECT_GT(simulation.workloads[0].profile.forward_ns, simulation.workloads[1].profile.forward_ns);
}

TEST_F(SimulationInputs, EachBandwidthMakesTheClusterAgain) {
  const Simulation simulation = load(kOnMine + "bandwidths_gbps: [2.5, 40]\n");
  ASSERT_THAT(simulation.networks, SizeIs(2));
  EXPECT_EQ(simulation.networks[0].gbps, 2.5);
  EXPECT_DOUBLE_EQ(simulation.networks[0].cluster.network.beta_ns_per_byte, 3.2);
  EXPECT_DOUBLE_EQ(simulation.networks[1].cluster.network.beta_ns_per_byte, 0.2);
  EXPECT_DOUBLE_EQ(simulation.networks[1].cluster.network.alpha_ns, 1000);
}

TEST_F(SimulationInputs, RefusesAnotherBandwidthForPublishedLines) {
  EXPECT_THAT(refusal(kTraced + "clusters: [lines.yaml]\nranks: [4]\nbandwidths_gbps: [1]\n"),
              HasSubstr("config.yaml:6:19: cluster 'lines' has published lines"));
}

TEST_F(SimulationInputs, RefusesACompressorWithoutCosts) {
  const std::string refused = refusal(kOnMine + "compressors: [none, topk, qsgd]\n");
  EXPECT_THAT(refused, HasSubstr("config.yaml:6:27: what compressing by 'qsgd' costs"));
  EXPECT_THAT(refused, HasSubstr("'traced'"));
  EXPECT_THAT(refused, HasSubstr("compressor_costs"));
}

TEST_F(SimulationInputs, RefusesAWrongCostAtItsPlace) {
  EXPECT_THAT(refusal(kOnMine + "pack: {model: cubic}\n"), HasSubstr("config.yaml:6:15"));
}

TEST_F(SimulationInputs, RefusesWorkloadsThatResultsCannotTellApart) {
  folder_.write("copy.json", kProfile);
  EXPECT_THAT(refusal("workloads: [{profile: profile.json}, {profile: copy.json}]\n"
                      "clusters: [mine.yaml]\nranks: [2]\n"),
              HasSubstr("config.yaml:3:38: this workload is called 'traced' and has batch 1, like "
                        "the one at "));
}

TEST_F(SimulationInputs, RefusesClustersThatResultsCannotTellApart) {
  folder_.write("other/mine.yaml", kCluster);
  EXPECT_THAT(refusal(kTraced + "clusters: [mine.yaml, other/mine.yaml]\nranks: [2]\n"),
              HasSubstr("config.yaml:4:23: this cluster is called 'mine', like the one at "));
}

TEST_F(SimulationInputs, RefusesAProfileWithoutRanksWhereItsOwnCostsCount) {
  EXPECT_EQ(load(kTraced).workloads[0].profile.ranks, 4);
  std::string without = kProfile;
  without.erase(without.find("\"ranks\": 4,"), 11);
  folder_.write("profile.json", without);
  EXPECT_THAT(refusal(kTraced), HasSubstr("add \"ranks\""));
}

TEST_F(SimulationInputs, RefusesBytesThatAreNoWholeElements) {
  std::string odd = kProfile;
  odd.replace(odd.find("400"), 3, "402");
  odd.erase(odd.find("\"grad_dtype\": \"fp32\","), 21);
  folder_.write("profile.json", odd);
  EXPECT_EQ(load(kOnMine).workloads[0].profile.tensors[0].bytes, 402);
  const std::string refused = refusal(kOnMine + "grad_dtype: fp16\n");
  EXPECT_THAT(refused, HasSubstr("config.yaml:6:13: workload 'traced'"));
  EXPECT_THAT(refused, HasSubstr("no whole elements of 4"));
}

}  // namespace
}  // namespace mergewise
