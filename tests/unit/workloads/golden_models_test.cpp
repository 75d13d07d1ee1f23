// SPDX-License-Identifier: Apache-2.0
// The built networks against what real models were recorded to be (tests/golden/models).
#include "bench/core/error.hpp"
#include "workloads/model.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace mergewise {
namespace {

nlohmann::json golden(const std::string& id) {
  std::ifstream file(std::string(MERGEWISE_SOURCE_DIR "/tests/golden/models/") + id + ".json");
  return nlohmann::json::parse(file);
}

class GoldenModel : public testing::TestWithParam<const char*> {
 protected:
  const Model model_ = build_model(GetParam());
  const nlohmann::json golden_ = golden(GetParam());
};

TEST_P(GoldenModel, HasTheTensorsInDefinitionOrder) {
  const auto& tensors = golden_.at("tensors");
  ASSERT_EQ(model_.tensors.size(), tensors.size());
  for (std::size_t index = 0; index < tensors.size(); ++index) {
    EXPECT_EQ(model_.tensors[index].name, tensors[index].at("name"));
    EXPECT_EQ(model_.tensors[index].shape,
              tensors[index].at("shape").get<std::vector<std::int64_t>>())
        << model_.tensors[index].name;
    EXPECT_EQ(model_.tensors[index].elements(), tensors[index].at("numel"));
  }
}

TEST_P(GoldenModel, HasTheReadyOrder) {
  std::vector<std::string> ready;
  for (const std::size_t index : model_.ready_order) {
    ready.push_back(model_.tensors.at(index).name);
  }
  EXPECT_EQ(ready, golden_.at("backward_order").get<std::vector<std::string>>());
}

TEST_P(GoldenModel, HasTheMacsOfEachWeight) {
  std::map<std::string, std::int64_t> macs;
  for (const Layer& layer : model_.layers) {
    if (layer.kind == LayerKind::kConv || layer.kind == LayerKind::kLinear) {
      // A tied layer's products stand under the weight it shares.
      const std::size_t weight =
          layer.shared.empty() ? layer.tensors.front() : layer.shared.front();
      macs[model_.tensors[weight].name] += layer.macs;
    } else {
      EXPECT_EQ(layer.macs, 0) << layer.name;
    }
  }
  EXPECT_EQ(macs, (golden_.at("macs").get<std::map<std::string, std::int64_t>>()));
}

TEST_P(GoldenModel, HasTheTotals) {
  EXPECT_EQ(model_.name, golden_.at("name"));
  EXPECT_EQ(model_.total_parameters(), golden_.at("total_parameters"));
  EXPECT_EQ(model_.total_macs(), golden_.at("total_macs"));
  std::vector<std::int64_t> input = golden_.at("input_shape");
  input.erase(input.begin());  // the batch
  EXPECT_EQ(model_.input_shape, input);
}

INSTANTIATE_TEST_SUITE_P(Models, GoldenModel,
                         testing::Values("resnet50", "resnet152", "vgg16", "bert_base"),
                         [](const auto& model) { return std::string(model.param); });

TEST(Bert, CountsTheRecordedMacsAtLength64) {
  const nlohmann::json recorded = golden("bert_base");
  const Model model = build_model("bert_base", {.sequence_length = 64});
  EXPECT_EQ(model.total_macs(), recorded.at("total_macs_seq64"));
  EXPECT_EQ(model.total_parameters(), recorded.at("total_parameters"));
}

TEST(Bert, CountsTheRecordedAttentionProducts) {
  const nlohmann::json recorded = golden("bert_base");
  for (const auto& [length, key] : std::map<std::int64_t, const char*>{
           {128, "attention_matmul_macs"}, {64, "attention_matmul_macs_seq64"}}) {
    std::int64_t macs = 0;
    for (const Layer& layer : build_model("bert_base", {.sequence_length = length}).layers) {
      if (layer.kind == LayerKind::kAttention) {
        for (const Gemm& gemm : layer.gemms) {
          macs += gemm.macs();
        }
      }
    }
    EXPECT_EQ(macs, recorded.at(key));
  }
}

TEST(BuildModel, GivesEveryNetworkTheSizeThatSourcesStates) {
  std::ifstream file(MERGEWISE_SOURCE_DIR "/workloads/SOURCES.md");
  const std::regex row(R"(\| `(\w+)` \| .* \| (\d+) \|)");
  std::vector<std::string> ids;
  for (std::string line; std::getline(file, line);) {
    std::smatch cells;
    if (std::regex_match(line, cells, row)) {
      ids.push_back(cells[1]);
      EXPECT_EQ(build_model(cells[1]).total_parameters(), std::stoll(cells[2])) << cells[1];
    }
  }
  EXPECT_EQ(ids, model_ids());
}

// What the released checkpoint of the encoder alone has.
TEST(Bert, GivesTheLargeEncoderItsPublishedSize) {
  std::int64_t encoder = 0;
  for (const TensorSpec& tensor : build_model("bert_large").tensors) {
    encoder += tensor.name.starts_with("bert.") ? tensor.elements() : 0;
  }
  EXPECT_EQ(encoder, 335141888);
}

TEST(BuildModel, GivesEveryTensorOneOwnerAndEveryLayerItsOwnName) {
  for (const std::string& id : model_ids()) {
    const Model model = build_model(id);
    std::vector<int> owners(model.tensors.size(), 0);
    std::set<std::string> names;
    for (const Layer& layer : model.layers) {
      EXPECT_TRUE(names.insert(layer.name).second) << id << " " << layer.name;
      for (const std::size_t tensor : layer.tensors) {
        ++owners[tensor];
      }
    }
    EXPECT_THAT(owners, testing::Each(1)) << id;
    EXPECT_EQ(std::set<std::size_t>(model.ready_order.begin(), model.ready_order.end()).size(),
              model.tensors.size());
  }
}

TEST(BuildModel, TakesOtherInputSizes) {
  const Model model = build_model("resnet50", {.image_size = 64});
  EXPECT_EQ(model.input_shape, (std::vector<std::int64_t>{3, 64, 64}));
  EXPECT_EQ(model.total_parameters(), 25557032);
  EXPECT_LT(model.total_macs(), build_model("resnet50").total_macs());
}

std::string refusal(const std::string& id, const ModelArguments& arguments) {
  try {
    static_cast<void>(build_model(id, arguments));
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(BuildModel, RefusesAnUnknownIdWithTheNearest) {
  EXPECT_THAT(refusal("resnet5O", {}),
              testing::AllOf(testing::HasSubstr("'resnet5O'"), testing::HasSubstr("'resnet50'")));
}

TEST(BuildModel, RefusesArgumentsThatDoNotFit) {
  using testing::AllOf;
  using testing::HasSubstr;
  EXPECT_THAT(refusal("vgg16", {.image_size = 16}),
              AllOf(HasSubstr("features.30"), HasSubstr("image_size")));
  EXPECT_THAT(refusal("bert_base", {.sequence_length = 513}), HasSubstr("position_embeddings"));
  EXPECT_THAT(refusal("bert_base", {.image_size = 224}), HasSubstr("no image_size"));
  EXPECT_THAT(refusal("resnet18", {.sequence_length = 8}), HasSubstr("no sequence_length"));
  EXPECT_THAT(refusal("resnet18", {.image_size = -1}), HasSubstr("image_size is -1"));
  EXPECT_THAT(refusal("resnet18", {.image_size = 1 << 20}), HasSubstr("expected 1 to"));
}

}  // namespace
}  // namespace mergewise
