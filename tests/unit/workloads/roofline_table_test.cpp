// SPDX-License-Identifier: Apache-2.0
// The unscaled roofline of the shipped accelerators against published trainings, and the table of
// docs/accelerators.md, which is printed here.
#include "workloads/workload.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace mergewise {
namespace {

const std::filesystem::path kShipped = MERGEWISE_SOURCE_DIR "/configs/accelerators";

/// What must be there and come out within kTolerance, by device; of the others the table only
/// tells.
const std::map<std::string, std::set<std::string>> kHeld{
    {"v100", {"resnet50", "inception_v3", "densenet121", "bert_base", "bert_large"}},
    {"a100", {"resnet50", "inception_v3", "bert_base", "bert_large"}},
    {"h100", {"resnet50", "bert_base", "bert_large"}}};
constexpr double kTolerance = 0.25;

std::string documentation() {
  std::ifstream file(MERGEWISE_SOURCE_DIR "/docs/accelerators.md");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string table_row(const Accelerator& device, const PublishedThroughput& published,
                      double modelled) {
  const std::vector<std::int64_t> input =
      build_model(published.model, published.arguments).input_shape;
  return fmt::format("| {} | `{}` | {} | {} | {} | {:.1f} | {:.2f} | {} |", device.name,
                     published.model, published.batch, fmt::join(input, " x "),
                     published.samples_per_s, modelled, modelled / published.samples_per_s,
                     published.source);
}

class RooflineTable : public testing::TestWithParam<std::string> {
 protected:
  const Accelerator device_ = load_accelerator(GetParam(), kShipped);
};

TEST_P(RooflineTable, MeetsPublishedTrainingsWithinAQuarterUnscaled) {
  fmt::print("| device | network | batch | input | published | modelled | ratio | source |\n");
  const std::set<std::string>& must_hold = kHeld.at(GetParam());
  std::set<std::string> published_models;
  for (const PublishedThroughput& published : device_.throughput) {
    const double modelled = modelled_throughput(published, device_);
    const std::string row = table_row(device_, published, modelled);
    const bool held = must_hold.count(published.model) > 0;
    fmt::print("{}{}\n", row, held ? "" : " (not held)");
    if (held) {
      EXPECT_NEAR(modelled / published.samples_per_s, 1, kTolerance) << row;
    }
    published_models.insert(published.model);
  }
  for (const std::string& model : must_hold) {
    EXPECT_EQ(published_models.count(model), 1U)
        << device_.name << " lacks a training of " << model;
  }
  for (const std::string& model : model_ids()) {
    if (published_models.count(model) == 0) {
      fmt::print("| {} | `{}` | no published {} throughput in use |\n", device_.name, model,
                 device_.arithmetic);
    }
  }
}

TEST_P(RooflineTable, IsTheOneOfTheDocumentation) {
  const std::string text = documentation();
  for (const PublishedThroughput& published : device_.throughput) {
    EXPECT_FALSE(published.source.empty()) << published.model << " batch " << published.batch;
    const std::string row = table_row(device_, published, modelled_throughput(published, device_));
    EXPECT_THAT(text, testing::HasSubstr(row + "\n"));
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, RooflineTable, testing::ValuesIn(accelerator_ids(kShipped)),
                         [](const auto& device) { return device.param; });

}  // namespace
}  // namespace mergewise
