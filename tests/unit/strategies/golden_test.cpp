// SPDX-License-Identifier: Apache-2.0
// Every profile of tests/golden/planner, against every strategy it has an expectation for.
#include "bench/plan/timeline.hpp"
#include "bench/strategies/registry.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace mergewise {
namespace {

constexpr double kTolerance = 1e-9;
constexpr std::size_t kFewestFiles = 50;

std::vector<std::string> golden_files() {
  const std::filesystem::path folder =
      std::filesystem::path(MERGEWISE_SOURCE_DIR) / "tests" / "golden" / "planner";
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// How many layers each group of the last phase has, in forward order, where a tensor is a layer.
std::vector<std::size_t> layers_per_group_forward(const MergePlan& plan) {
  std::vector<std::size_t> layers;
  for (const Group& group : plan.groups) {
    if (group.collective == plan.groups.back().collective) {
      layers.push_back(group.end - group.begin);
    }
  }
  return layers;
}

/// A profile's options serve several strategies: each takes those it knows.
Options known_options(const Strategy& strategy, const Options& given) {
  Options known;
  for (const OptionSpec& spec : strategy.options()) {
    const auto value = given.values().find(spec.name);
    if (value != given.values().end()) known.set(spec.name, value->second);
  }
  return known;
}

class GoldenPlan : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenPlan, HasTheExpectedTimesAndGroups) {
  const Profile profile = load_profile(GetParam());
  const TimeModel model(profile);
  const nlohmann::json document = nlohmann::json::parse(std::ifstream(GetParam()));
  for (const auto& [id, expected] : document.at("expected").items()) {
    SCOPED_TRACE(id);
    const auto strategy = make_strategy(id);
    const MergePlan plan = strategy->plan(model, known_options(*strategy, profile.options));
    const auto iteration = expected.at("iteration_ns").get<double>();
    EXPECT_NEAR(predict(model, plan).iteration_ns, iteration, kTolerance * iteration);
    if (expected.contains("layers_per_group_forward")) {
      EXPECT_EQ(layers_per_group_forward(plan),
                expected.at("layers_per_group_forward").get<std::vector<std::size_t>>());
    } else if (!expected.at("groups").is_null()) {
      EXPECT_EQ(plan.ends(), expected.at("groups").get<std::vector<std::size_t>>());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Planner, GoldenPlan, ::testing::ValuesIn(golden_files()),
                         [](const auto& file) {
                           return std::filesystem::path(file.param).stem().string();
                         });

TEST(GoldenPlans, AreAllThere) { EXPECT_GE(golden_files().size(), kFewestFiles); }

}  // namespace
}  // namespace mergewise
