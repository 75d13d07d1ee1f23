// SPDX-License-Identifier: Apache-2.0
// Importing published timings of both kinds.
#include "workloads/timings.hpp"

#include "bench/config/node.hpp"
#include "bench/core/error.hpp"
#include "tests/support/reference.hpp"
#include "tests/temporary_folder.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

namespace mergewise {
namespace {

using testing::AllOf;
using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class Timings : public testing::Test {
 protected:
  ImportedModel import(const std::string& text, const std::string& model = "") {
    return import_timings(folder_.write("timings.json", text), model);
  }
  std::string refusal(const std::string& text, const std::string& model = "") {
    try {
      static_cast<void>(import(text, model));
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("timings.json:"));
      return error.what();
    }
    return "accepted";
  }
  static std::string layers(const std::string& list, const std::string& more = "") {
    return "{\"name\": \"a\", \"batch_size\": 2, \"forward_us\": 5," + more + "\n\"layers\": [\n" +
           list + "]}\n";
  }
  // All tensors of vgg11, the first ready after `from` ms, each 1 ms later than the one before.
  static std::vector<std::string> ready_lines(double from = 1) {
    const Model model = build_model("vgg11");
    std::vector<std::string> lines;
    for (const std::size_t index : model.ready_order) {
      lines.push_back(fmt::format("\"{}\": {}", model.tensors[index].name, from++));
    }
    return lines;
  }
  static std::string ready(const std::vector<std::string>& lines,
                           const std::string& more = "\"model\": \"vgg11\",") {
    return fmt::format(
        "{{\"name\": \"a\", \"batch_size\": 2, \"forward_ms\": 5, {}\n\"ready_ms\": {{\n{}}}}}\n",
        more, fmt::join(lines, ",\n"));
  }

  TemporaryFolder folder_;
};

TEST_F(Timings, MakeEachLayerATensorInReverseOrder) {
  const ImportedModel made =
      import_timings(MERGEWISE_SOURCE_DIR "/tests/golden/traces/layers.json");
  const Workload& workload = made.user_model.workload;
  ASSERT_THAT(workload.tensors, SizeIs(3));
  EXPECT_EQ(workload.name, "three_layers");
  EXPECT_EQ(workload.batch, 8);
  EXPECT_EQ(workload.times, TimesKind::kMeasured);
  EXPECT_THAT(workload.forward_ns, DoubleEq(30500));
  EXPECT_THAT(workload.times_from,
              AllOf(HasSubstr("layers.json"), HasSubstr("made up"), HasSubstr("half of")));
  EXPECT_EQ(workload.tensors[0].name, "layer_3");
  EXPECT_THAT(workload.tensors[0].shape, ElementsAre(7));
  EXPECT_THAT(workload.tensors[0].backward_ns, DoubleEq(51000));
  EXPECT_EQ(workload.tensors[1].name, "middle");
  EXPECT_EQ(workload.tensors[1].bytes, 0);
  EXPECT_EQ(workload.tensors[2].layer, "layer_1");
  EXPECT_THAT(workload.tensors[2].backward_ns, DoubleEq(10000));
  EXPECT_THAT(made.user_model.model.ready_order, ElementsAre(0, 1, 2));
}

TEST_F(Timings, TakeAnyUnitAndPassOverOtherKeys) {
  const auto made = import(R"({"name": "a", "batch_size": 1, "forward_ns": 3, "seed": [1],
    "layers": [{"parameters": 1, "backward_ms": 2}, {"parameters": 1, "backward_ns": 4}]})");
  EXPECT_THAT(made.user_model.workload.forward_ns, DoubleEq(3));
  EXPECT_THAT(made.user_model.workload.tensors[0].backward_ns, DoubleEq(4));
  EXPECT_THAT(made.user_model.workload.tensors[1].backward_ns, DoubleEq(2e6));
}

TEST_F(Timings, UseTheShapesOfTheModelThatBecameReady) {
  const auto made = import(ready(ready_lines(), "\"model\": \"vgg11\", \"backward_ms\": 25,"));
  const Workload& workload = made.user_model.workload;
  const Model model = build_model("vgg11");
  ASSERT_THAT(workload.tensors, SizeIs(22));
  for (std::size_t i = 0; i < workload.tensors.size(); ++i) {
    const TensorSpec& tensor = model.tensors[model.ready_order[i]];
    EXPECT_EQ(workload.tensors[i].name, tensor.name);
    EXPECT_EQ(workload.tensors[i].shape, tensor.shape);
    EXPECT_NEAR(workload.tensors[i].backward_ns, i == 21 ? 4e6 : 1e6, 1) << i;
  }
  EXPECT_EQ(workload.tensors[1].layer, "classifier.6");
  EXPECT_THAT(made.notes, IsEmpty());
}

TEST_F(Timings, LetTheUserSayTheModel) {
  EXPECT_THAT(import(ready(ready_lines(), ""), "vgg11").user_model.workload.tensors, SizeIs(22));
  EXPECT_THAT(refusal(ready(ready_lines()), "vgg13"), HasSubstr("vgg13"));
  EXPECT_THAT(refusal(ready(ready_lines(), "")), HasSubstr("--model ID"));
  EXPECT_THAT(refusal(layers(R"({"parameters": 1, "backward_us": 1})"), "vgg11"),
              HasSubstr("vgg11"));
}

TEST_F(Timings, NoteAnotherReadyOrder) {
  std::vector<std::string> lines = ready_lines();
  lines[3].replace(lines[3].find(':'), std::string::npos, ": 5");
  std::swap(lines[3], lines[4]);
  const auto made = import(ready(lines));
  EXPECT_THAT(made.notes, ElementsAre(HasSubstr("tensor 4 to become ready")));
}

TEST_F(Timings, RefuseALayerThatIsNot) {
  EXPECT_THAT(refusal(layers(R"({"parameters": 1})")),
              AllOf(HasSubstr(":3:1:"), HasSubstr("backward_us")));
  EXPECT_THAT(refusal(layers(R"({"parameters": -1, "backward_us": 1})")), HasSubstr(":3:16:"));
  EXPECT_THAT(refusal(layers(R"({"parameters": 1.5, "backward_us": 1})")), HasSubstr("'1.5'"));
  EXPECT_THAT(refusal(layers(R"({"parameters": 1, "backward_us": -1})")), HasSubstr("'-1'"));
  EXPECT_THAT(refusal(layers(R"({"parameters": 1, "backward_us": 1, "backward_ms": 1})")),
              HasSubstr("second backward time"));
  EXPECT_THAT(refusal(layers(R"({"parameter": 1, "backward_us": 1})")), HasSubstr("'parameter'"));
  EXPECT_THAT(refusal(layers("{\"name\": \"x\", \"parameters\": 1, \"backward_us\": 1},\n"
                             "{\"name\": \"x\", \"parameters\": 1, \"backward_us\": 1}")),
              AllOf(HasSubstr(":4:10:"), HasSubstr("'x'"), HasSubstr(":3:1")));
  EXPECT_THAT(refusal(layers(R"({"parameters": 1, "backward_us": 1})", "\"order\": \"reverse\",")),
              HasSubstr("'reverse'"));
}

TEST_F(Timings, RefuseATensorThatTheModelLacksOrThatTheFileLacks) {
  std::vector<std::string> lines = ready_lines();
  lines[2] = "\"classifier.3.biass\": 3";
  EXPECT_THAT(refusal(ready(lines)), AllOf(HasSubstr(":5:1:"), HasSubstr("'classifier.3.bias'")));
  lines = ready_lines();
  lines.erase(lines.begin() + 2);
  EXPECT_THAT(refusal(ready(lines)), AllOf(HasSubstr("lacks 1"), HasSubstr("'classifier.3.bias'")));
  lines = ready_lines();
  lines.push_back(lines.back());
  EXPECT_THAT(refusal(ready(lines)), HasSubstr(":25:1:"));
}

TEST_F(Timings, RefuseTimesThatDecrease) {
  std::vector<std::string> lines = ready_lines();
  lines[4].replace(lines[4].find(':'), std::string::npos, ": 3.5");
  EXPECT_THAT(refusal(ready(lines)), AllOf(HasSubstr(":7:22:"), HasSubstr("'3.5'")));
  EXPECT_THAT(refusal(ready(ready_lines(), "\"model\": \"vgg11\", \"backward_ms\": 21.9,")),
              AllOf(HasSubstr(":1:"), HasSubstr("'21.9'")));
}

TEST_F(Timings, RefuseNothingMeasured) {
  EXPECT_THAT(refusal(layers("")), HasSubstr("no gradient"));
  EXPECT_THAT(refusal(layers(R"({"parameters": 1, "backward_us": 0})")), HasSubstr("no time"));
  EXPECT_THAT(refusal(R"({"name": "a", "batch_size": 1, "forward_us": 0,
                          "layers": [{"parameters": 1, "backward_us": 1}]})"),
              HasSubstr("forward pass takes no time"));
}

TEST_F(Timings, RefuseTimesThatNoTrainingTakes) {
  const std::string layer = R"({"parameters": 1, "backward_ns": 9e14})";
  EXPECT_THAT(refusal(layers(layer + "," + layer)), HasSubstr("longer than 10^15 ns"));
}

TEST_F(Timings, RefuseAnotherKindOfFile) {
  EXPECT_THAT(refusal("[]"), HasSubstr("no map"));
  EXPECT_THAT(refusal(R"({"name": "a"})"), HasSubstr("neither layers nor ready_ms"));
  EXPECT_THAT(refusal(R"({"layers": [], "ready_ms": {}})"), HasSubstr("both"));
  EXPECT_THAT(refusal("{\"name\": "), HasSubstr(":1:"));
  EXPECT_THAT(refusal(layers("", "\"name\": \"b\",")), HasSubstr("'name'"));
  EXPECT_THAT(refusal(R"({"name": "", "batch_size": 1, "layers": []})"), HasSubstr(":1:10:"));
  EXPECT_THAT(refusal(R"({"name": "a", "batch_size": 0, "layers": []})"), HasSubstr("'0'"));
  EXPECT_THAT(refusal(ready(ready_lines(), "\"model\": \"vgg11\", \"input_shape\": [4, 3],")),
              HasSubstr("expected 2"));
}

// Real timings that others measured lie beside the sources where they may; they are not ours to
// ship.
class PublishedTimings : public testing::TestWithParam<const char*> {};

TEST_P(PublishedTimings, LoadAgain) {
  const auto file = test::reference_file(GetParam());
  if (!test::lacking(file).empty()) GTEST_SKIP() << test::lacking(file);
  const ImportedModel made = import_timings(file);
  EXPECT_THAT(made.notes, IsEmpty());
  const TemporaryFolder folder;
  const UserModel again =
      load_user_model(folder.write("model.yaml", user_model_yaml(made.user_model)));
  ASSERT_EQ(again.workload.tensors.size(), made.user_model.workload.tensors.size());
  for (std::size_t i = 0; i < again.workload.tensors.size(); ++i) {
    const WorkloadTensor& tensor = made.user_model.workload.tensors[i];
    EXPECT_EQ(again.workload.tensors[i].name, tensor.name);
    EXPECT_EQ(again.workload.tensors[i].shape, tensor.shape);
    EXPECT_THAT(again.workload.tensors[i].backward_ns, DoubleEq(tensor.backward_ns));
  }
}

std::string stem_of(const testing::TestParamInfo<const char*>& info) {
  return std::filesystem::path(info.param).stem();
}

INSTANTIATE_TEST_SUITE_P(Reference, PublishedTimings,
                         testing::Values("traces/googlenet_k80.json",
                                         "models/trace_resnet50_cpu.json"),
                         stem_of);

}  // namespace
}  // namespace mergewise
