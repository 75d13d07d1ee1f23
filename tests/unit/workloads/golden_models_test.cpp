// SPDX-License-Identifier: Apache-2.0
// The built networks against what real models were recorded to be (tests/golden/models).
#include "bench/core/error.hpp"
#include "workloads/model.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace mergewise {
namespace {

/// Every recorded model; whatever else is put into the folder is compared as well.
std::vector<std::string> golden_files() {
  std::vector<std::string> names;
  const std::filesystem::path folder = MERGEWISE_SOURCE_DIR "/tests/golden/models";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") {
      names.push_back(entry.path().stem());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

nlohmann::json golden(const std::string& name) {
  std::ifstream file(MERGEWISE_SOURCE_DIR "/tests/golden/models/" + name + ".json");
  return nlohmann::json::parse(file);
}

/// The golden files of networks that share tensors have more fields: those of pre-training BERTs.
std::vector<std::string> golden_files_with_ties() {
  std::vector<std::string> names = golden_files();
  names.erase(std::remove_if(names.begin(), names.end(),
                             [](const std::string& name) {
                               return !golden(name).contains("tied_parameters");
                             }),
              names.end());
  return names;
}

/// Without the batch.
std::vector<std::int64_t> sample_shape(const nlohmann::json& golden) {
  std::vector<std::int64_t> shape = golden.at("input_shape");
  shape.erase(shape.begin());
  return shape;
}

/// The input is either an image, {channels, height, width}, or a sequence, {positions}.
Model build_like(const nlohmann::json& golden) {
  const std::vector<std::int64_t> shape = sample_shape(golden);
  ModelArguments arguments;
  (shape.size() == 1 ? arguments.sequence_length : arguments.image_size) = shape.back();
  return build_model(golden.at("name"), arguments);
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  return std::regex_replace(info.param, std::regex("[^A-Za-z0-9_]"), "_");
}

class GoldenModel : public testing::TestWithParam<std::string> {
 protected:
  const nlohmann::json golden_ = golden(GetParam());
  const Model model_ = build_like(golden_);
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
  EXPECT_EQ(model_.input_shape, sample_shape(golden_));
}

INSTANTIATE_TEST_SUITE_P(Models, GoldenModel, testing::ValuesIn(golden_files()), test_name);

class GoldenTies : public GoldenModel {};

TEST_P(GoldenTies, BelongToOneLayerAndServeAnother) {
  for (const auto& [alias, shared] : golden_.at("tied_parameters").items()) {
    const std::string layer_name = alias.substr(0, alias.rfind('.'));
    std::vector<std::string> used;
    for (const Layer& layer : model_.layers) {
      for (const std::vector<std::size_t>* tensors : {&layer.tensors, &layer.shared}) {
        for (const std::size_t tensor : *tensors) {
          EXPECT_NE(model_.tensors.at(tensor).name, alias);
          if (layer.name == layer_name) {
            used.push_back(model_.tensors.at(tensor).name);
          }
        }
      }
    }
    EXPECT_THAT(used, testing::Contains(shared.get<std::string>())) << alias;
  }
}

TEST_P(GoldenTies, HaveTheRecordedEncoder) {
  std::int64_t encoder = 0;
  for (const TensorSpec& tensor : model_.tensors) {
    encoder += tensor.name.starts_with("bert.") ? tensor.elements() : 0;
  }
  EXPECT_EQ(encoder, golden_.at("encoder_parameters"));
}

TEST_P(GoldenTies, CountTheRecordedMacsAtLength64) {
  const Model model = build_model(golden_.at("name"), {.sequence_length = 64});
  EXPECT_EQ(model.total_macs(), golden_.at("total_macs_seq64"));
  EXPECT_EQ(model.total_parameters(), golden_.at("total_parameters"));
}

TEST_P(GoldenTies, CountTheRecordedAttentionProducts) {
  for (const auto& [length, key] : std::map<std::int64_t, const char*>{
           {128, "attention_matmul_macs"}, {64, "attention_matmul_macs_seq64"}}) {
    std::int64_t macs = 0;
    for (const Layer& layer : build_model(golden_.at("name"), {.sequence_length = length}).layers) {
      if (layer.kind == LayerKind::kAttention) {
        for (const Gemm& gemm : layer.gemms) {
          macs += gemm.macs();
        }
      }
    }
    EXPECT_EQ(macs, golden_.at(key));
  }
}

INSTANTIATE_TEST_SUITE_P(Models, GoldenTies, testing::ValuesIn(golden_files_with_ties()),
                         test_name);

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

TEST(BuildModel, HasTheInputItWasPublishedWith) {
  for (const std::string& id : model_ids()) {
    const std::vector<std::int64_t> input = build_model(id).input_shape;
    if (id.starts_with("bert")) {
      EXPECT_EQ(input, (std::vector<std::int64_t>{128})) << id;
    } else {
      const std::int64_t size = id.starts_with("inception") ? 299 : 224;
      EXPECT_EQ(input, (std::vector<std::int64_t>{3, size, size})) << id;
    }
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
  EXPECT_THAT(refusal("googlenet", {.image_size = 14}), HasSubstr("'maxpool3'"));
  EXPECT_THAT(refusal("inception_v3", {.image_size = 298}), HasSubstr("'AuxLogits.conv1.conv'"));
  EXPECT_THAT(refusal("inception_v4", {.image_size = 74}), HasSubstr("'features.18"));
  EXPECT_THAT(refusal("densenet121", {.image_size = 28}), HasSubstr("transition3.pool"));
  EXPECT_THAT(refusal("bert_base", {.sequence_length = 513}), HasSubstr("position_embeddings"));
  EXPECT_THAT(refusal("bert_base", {.image_size = 224}), HasSubstr("no image_size"));
  EXPECT_THAT(refusal("resnet18", {.sequence_length = 8}), HasSubstr("no sequence_length"));
  EXPECT_THAT(refusal("resnet18", {.image_size = -1}), HasSubstr("image_size is -1"));
  EXPECT_THAT(refusal("resnet18", {.image_size = 1 << 20}), HasSubstr("expected 1 to"));
}

}  // namespace
}  // namespace mergewise
