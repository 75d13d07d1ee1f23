// SPDX-License-Identifier: Apache-2.0
// Reading accelerator descriptions.
#include "bench/core/error.hpp"
#include "workloads/workload.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace mergewise {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

const std::filesystem::path kShipped = MERGEWISE_SOURCE_DIR "/configs/accelerators";

class AcceleratorFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// The message of the refusal of the complete file with `from` replaced by `to`.
  std::string refusal(const std::string& from, const std::string& to) {
    std::string text = kComplete;
    text.replace(text.find(from), from.size(), to);
    std::ofstream(folder_ / "mine.yaml") << text;
    try {
      static_cast<void>(load_accelerator("mine", folder_));
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  }

  static constexpr const char* kComplete =
      "schema: mergewise/accelerator/1\n"
      "name: mine\n"
      "arithmetic: fp32\n"
      "peak_flops: 1e12\n"
      "flops_fraction: 0.5\n"
      "memory_bytes_per_s: 1e11\n"
      "bandwidth_fraction: 1\n"
      "throughput:\n"
      "  - {model: resnet50, samples_per_s: 10}\n"
      "  - {model: bert_base, sequence_length: 64, samples_per_s: 20}\n"
      "achieved:\n"
      "  conv: {flops: 0.25}\n"
      "  norm: {bandwidth: 0.75}\n";
  std::filesystem::path folder_;
};

TEST(Accelerator, ListsTheShippedOnes) {
  EXPECT_THAT(accelerator_ids(kShipped), ElementsAre("a100", "h100", "v100"));
}

TEST(Accelerator, LoadsEveryShippedOne) {
  for (const std::string& id : accelerator_ids(kShipped)) {
    const Accelerator device = load_accelerator(id, kShipped);
    EXPECT_EQ(device.name, id);
    EXPECT_FALSE(device.description.empty());
    EXPECT_GT(device.peak_flops, 1e12);
    for (const std::string& model : model_ids()) {
      EXPECT_GT(make_workload(build_model(model), 32, device).forward_ns, 0) << id << " " << model;
    }
  }
}

TEST(Accelerator, GivesTheV100ItsPublishedResnet50) {
  const Workload workload =
      make_workload(build_model("resnet50"), 64, load_accelerator("v100", kShipped));
  Nanoseconds iteration = workload.forward_ns;
  for (const WorkloadTensor& tensor : workload.tensors) {
    iteration += tensor.backward_ns;
  }
  EXPECT_NEAR(iteration / (64e9 / 253.1), 1, 1e-12);
  EXPECT_EQ(workload.times_from, "roofline v100 (fp32), scaled to 253.1 samples/s");
}

TEST(Accelerator, IsNotScaledToTrainingsOfAnotherCard) {
  const Accelerator device = load_accelerator("a100", kShipped);
  for (const PublishedThroughput& published : device.throughput) {
    const bool other_card = published.source.find("PCIe") != std::string::npos;
    EXPECT_EQ(published.compare_only, other_card) << published.source;
  }
  EXPECT_THAT(make_workload(build_model("inception_v3"), 224, device).times_from,
              HasSubstr("not scaled"));
}

TEST_F(AcceleratorFile, LoadsByIdAndByPath) {
  std::ofstream(folder_ / "mine.yaml") << kComplete;
  EXPECT_EQ(load_accelerator("mine", folder_).throughput.size(), 2U);
  const Accelerator device = load_accelerator((folder_ / "mine.yaml").string(), "/nowhere");
  EXPECT_EQ(device.throughput.at(1).arguments.sequence_length, 64);
  EXPECT_EQ(device.layer_overhead_ns, 0);
}

TEST_F(AcceleratorFile, TakesWhatAKindDoesNotSayFromTheDefaults) {
  std::ofstream(folder_ / "mine.yaml") << kComplete << "  conv_square: {bandwidth: 0.125}\n";
  const Accelerator device = load_accelerator("mine", folder_);
  ASSERT_EQ(device.achieved.size(), 3U);
  EXPECT_EQ(device.achieved.at("conv").flops, 0.25);
  EXPECT_EQ(device.achieved.at("conv").bandwidth, 1);
  EXPECT_EQ(device.achieved.at("conv_square").flops, 0.25) << "that of convolutions";
  EXPECT_EQ(device.achieved.at("conv_square").bandwidth, 0.125);
  EXPECT_EQ(device.achieved.at("norm").bandwidth, 0.75);
}

TEST_F(AcceleratorFile, ReadsWhatAPublishedTrainingWas) {
  std::ofstream(folder_ / "mine.yaml") << kComplete << "layer_overhead_ns: 7\n";
  const PublishedThroughput plain = load_accelerator("mine", folder_).throughput.at(0);
  EXPECT_EQ(plain.batch, 32);
  EXPECT_EQ(plain.update_passes, 0);
  EXPECT_FALSE(plain.compare_only);
  EXPECT_EQ(
      refusal("samples_per_s: 20",
              "samples_per_s: 20, batch: 8, without: cls., compare_only: true, update_passes: 2, "
              "source: text"),
      "accepted");
  const PublishedThroughput full = load_accelerator("mine", folder_).throughput.at(1);
  EXPECT_EQ(full.batch, 8);
  EXPECT_EQ(full.without, "cls.");
  EXPECT_EQ(full.update_passes, 2);
  EXPECT_TRUE(full.compare_only);
  EXPECT_EQ(full.source, "text");
}

TEST_F(AcceleratorFile, TakesTwoTrainingsOfAModelThatDiffer) {
  const std::string second = "model: bert_base, sequence_length: 64";
  EXPECT_EQ(refusal(second, "model: resnet50, batch: 64"), "accepted");
  EXPECT_EQ(refusal(second, "model: resnet50, image_size: 64"), "accepted");
  EXPECT_THAT(refusal(second, "model: resnet50, batch: 32"), HasSubstr("already"));
}

TEST_F(AcceleratorFile, RefusesAnUnknownIdWithTheValidOnes) {
  std::ofstream(folder_ / "mine.yaml") << kComplete;
  try {
    static_cast<void>(load_accelerator("mime", folder_));
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("accelerator 'mime'"), HasSubstr("'mine'")));
  }
  EXPECT_THROW(static_cast<void>(load_accelerator("mine", folder_ / "missing")), InputError);
  EXPECT_THROW(static_cast<void>(load_accelerator("missing.yaml", folder_)), InputError);
}

TEST_F(AcceleratorFile, RefusesWhatItDoesNotKnowAtItsPlace) {
  EXPECT_EQ(refusal("mine\n", "mine\n"), "accepted");
  EXPECT_THAT(refusal("arithmetic:", "aritmetic:"),
              AllOf(HasSubstr("mine.yaml:3:1:"), HasSubstr("aritmetic"), HasSubstr("arithmetic")));
  EXPECT_THAT(refusal("fp32", "fp23"), AllOf(HasSubstr("mine.yaml:3:13:"), HasSubstr("fp32")));
  EXPECT_THAT(refusal("accelerator/1", "accelerator/2"), HasSubstr("mine.yaml:1:9:"));
  EXPECT_THAT(refusal("name: mine", "name: other"), HasSubstr("mine.yaml:2:7:"));
  EXPECT_THAT(refusal("model: resnet50", "model: resnet5"),
              AllOf(HasSubstr("mine.yaml:9:13:"), HasSubstr("'resnet50'")));
  EXPECT_THAT(refusal("model: bert_base, sequence_length: 64", "model: resnet50"),
              AllOf(HasSubstr("mine.yaml:10:13:"), HasSubstr("already")));
}

TEST_F(AcceleratorFile, RefusesWhatIsMissingOrOutOfRange) {
  EXPECT_THAT(refusal("peak_flops: 1e12\n", ""), HasSubstr("peak_flops"));
  EXPECT_THAT(refusal("peak_flops: 1e12", "peak_flops: 0"), HasSubstr("mine.yaml:4:13:"));
  EXPECT_THAT(refusal("flops_fraction: 0.5", "flops_fraction: 1.5"), HasSubstr("mine.yaml:5:17:"));
  EXPECT_THAT(refusal("fraction: 1\n", "fraction: fast\n"), HasSubstr("'fast'"));
  EXPECT_THAT(refusal("samples_per_s: 10", "samples_per_s: 0"), HasSubstr("mine.yaml:9:"));
  EXPECT_THAT(refusal("samples_per_s: 10", "samples_per_s: 10, compare_only: maybe"),
              HasSubstr("mine.yaml:9:"));
  EXPECT_THAT(refusal("sequence_length: 64", "image_size: 64"), HasSubstr("no image_size"));
  EXPECT_THAT(refusal("sequence_length: 64", "sequence_length: 5000"), HasSubstr("5000"));
}

TEST_F(AcceleratorFile, RefusesWhatAKindCannotAchieve) {
  EXPECT_THAT(refusal("  conv:", "  cnov:"),
              AllOf(HasSubstr("mine.yaml:12:3:"), HasSubstr("'conv'")));
  EXPECT_THAT(refusal("{flops: 0.25}", "{flops: 1.5}"), HasSubstr("mine.yaml:12:17:"));
  EXPECT_EQ(refusal("conv: {flops: 0.25}", "conv_square: {flops: 1.5}"), "accepted") << "Winograd";
  EXPECT_THAT(refusal("{bandwidth: 0.75}", "{flops: 0.75}"),
              AllOf(HasSubstr("mine.yaml:13:10:"), HasSubstr("bandwidth")))
      << "normalisation has no products";
}

TEST_F(AcceleratorFile, RefusesATrainingThatCannotHaveBeen) {
  EXPECT_THAT(refusal("samples_per_s: 20", "samples_per_s: 20, without: clas"),
              AllOf(HasSubstr("mine.yaml:10:"), HasSubstr("'clas'"), HasSubstr("'bert_base'")));
  // 100 passes over 440 MB at 100 GB/s: 0.44 s of the 1.6 s that 32 samples take at 20 samples/s.
  EXPECT_EQ(refusal("samples_per_s: 20", "samples_per_s: 20, update_passes: 100"), "accepted");
  EXPECT_THAT(refusal("samples_per_s: 20", "samples_per_s: 20, update_passes: 400"),
              AllOf(HasSubstr("mine.yaml:10:"), HasSubstr("update")));
}

}  // namespace
}  // namespace mergewise
