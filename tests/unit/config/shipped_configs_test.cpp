// SPDX-License-Identifier: Apache-2.0
// Every run and simulation config in configs/ loads with the registries as they are.
#include "bench/config/run_config.hpp"
#include "bench/config/simulate_config.hpp"
#include "bench/cost/cluster.hpp"
#include "bench/cost/wire.hpp"
#include "bench/strategies/registry.hpp"
#include "workloads/model.hpp"
#include "workloads/workload.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace mergewise {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;

const fs::path kConfigs = fs::path(MERGEWISE_SOURCE_DIR) / "configs";

ConfigVocabulary vocabulary() {
  ConfigVocabulary words;
  words.models = model_ids();
  for (const std::string& id : strategy_ids()) words.strategies[id] = make_strategy(id)->options();
  for (const std::string& id : compressor_ids()) words.compressors[id] = compressor_options(id);
  words.accelerators = accelerator_ids(kConfigs / "accelerators");
  words.devices = {"cpu"};
  words.collectives = {"gloo"};
  return words;
}

// Configs lie in configs/ itself; its folders hold other kinds of description. Those that name
// clusters are for `simulate`.
std::vector<fs::path> configs(bool simulated) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(kConfigs)) {
    if (entry.path().extension() != ".yaml") continue;
    const Node root = parse_file(entry.path(), kConfigLimits);
    if (root.find("clusters").has_value() == simulated) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(ShippedConfigs, AreThere) {
  EXPECT_THAT(configs(false), Contains(kConfigs / "quickstart.yaml"));
  EXPECT_THAT(configs(false), Contains(kConfigs / "networks.yaml"));
  EXPECT_THAT(configs(false), Contains(kConfigs / "compressors.yaml"));
}

TEST(ShippedConfigs, LoadAndAreNamedAsTheirFiles) {
  for (const fs::path& file : configs(false)) {
    SCOPED_TRACE(file.string());
    RunConfig config;
    ASSERT_NO_THROW(config = load_run_config(file, vocabulary()));
    EXPECT_EQ(config.name, file.stem().string());
  }
}

TEST(ShippedConfigs, OfSimulationsLoadAndAreNamedAsTheirFiles) {
  ConfigVocabulary words = vocabulary();
  words.clusters = cluster_ids(kConfigs / "clusters");
  EXPECT_THAT(configs(true), Contains(kConfigs / "break_even.yaml"));
  for (const fs::path& file : configs(true)) {
    SCOPED_TRACE(file.string());
    SimulateConfig config;
    ASSERT_NO_THROW(config = load_simulate_config(file, words));
    EXPECT_EQ(config.name, file.stem().string());
  }
}

TEST(ShippedConfigs, QuickstartComparesTheFiveStrategiesInItsBudget) {
  const RunConfig config = load_run_config(kConfigs / "quickstart.yaml", vocabulary());
  EXPECT_EQ(config.strategies.size(), 5U);
  EXPECT_EQ(config.budget_ns, 150e9);
  ASSERT_TRUE(config.link.has_value());
  EXPECT_EQ(config.link->gbps, 2.5);
}

}  // namespace
}  // namespace mergewise
