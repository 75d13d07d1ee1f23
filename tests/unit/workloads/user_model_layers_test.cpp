// SPDX-License-Identifier: Apache-2.0
// The layers of a user's model, and writing a model that reads back the same.
#include "bench/core/error.hpp"
#include "tests/temporary_folder.hpp"
#include "workloads/workload.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <string>

namespace mergewise {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::filesystem::path kAccelerators = MERGEWISE_SOURCE_DIR "/configs/accelerators";

UserModel of_network(const std::string& id, std::int64_t batch) {
  Model model = build_model(id);
  Workload workload = make_workload(model, batch, load_accelerator("v100", kAccelerators));
  return {std::move(model), std::move(workload)};
}

class UserModelLayers : public testing::Test {
 protected:
  UserModel load(const std::string& text) {
    std::ofstream(file_) << text;
    return load_user_model(file_);
  }
  /// The message of the refusal of the small model with `from` replaced by `to`.
  std::string refusal(const std::string& from, const std::string& to) {
    std::string text = kSmall;
    text.replace(text.find(from), from.size(), to);
    try {
      static_cast<void>(load(text));
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  }

  static constexpr const char* kSmall =
      "schema: mergewise/model/1\n"
      "name: small\n"
      "batch: 3\n"
      "forward_ns: 10\n"
      "tensors:\n"
      "  - {name: fc.bias, shape: [5], backward_ns: 1}\n"
      "  - {name: fc.weight, shape: [5, 2], backward_ns: 1}\n"
      "input_shape: [2]\n"
      "layers:\n"
      "  - {name: fc, kind: linear, tensors: [fc.weight, fc.bias], output: [5], inputs: 2, "
      "activations: 7, products: [{m: 1, n: 5, k: 2}], first: true, macs: 10, parameter_bytes: 60, "
      "activation_bytes: 20}\n"
      "  - {name: relu, kind: activation, output: [5], inputs: 5, activations: 10}\n";
  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "model.yaml";
};

TEST_F(UserModelLayers, MakeRealWork) {
  const Workload workload = load(kSmall).workload;
  ASSERT_EQ(workload.layers.size(), 2U);
  EXPECT_EQ(workload.layers[0].kind, LayerKind::kLinear);
  EXPECT_EQ(workload.layers[0].forward.at(0).m, 3);
  EXPECT_FALSE(workload.layers[0].input_gradient);
  EXPECT_EQ(workload.layers[1].output_elements, 15);
  EXPECT_THAT(workload.backward_layers, ElementsAre(ElementsAre(1, 0), IsEmpty()));
}

TEST_F(UserModelLayers, AreRefusedAtTheirPlace) {
  EXPECT_EQ(refusal("small", "tiny"), "accepted");
  EXPECT_THAT(refusal("kind: linear", "kind: linera"),
              AllOf(HasSubstr("model.yaml:10:22:"), HasSubstr("'linear'")));
  EXPECT_THAT(refusal("name: relu", "name: fc"), HasSubstr("a layer already"));
  EXPECT_THAT(refusal("input_shape", "  - {name: extra, bytes: 4, backward_ns: 1}\ninput_shape"),
              HasSubstr("'extra' belongs to no layer"));
  EXPECT_THAT(refusal("[fc.weight, fc.bias]", "[fc.weight, fc.bias, fc.bias]"),
              HasSubstr("a layer already"));
  EXPECT_THAT(refusal("[fc.weight, fc.bias]", "[fc.weights, fc.bias]"),
              HasSubstr("none of the file's tensors"));
  EXPECT_THAT(refusal("tensors: [fc.weight, fc.bias]", "shared: [fc.weight]"),
              HasSubstr("no earlier layer"));
  EXPECT_THAT(refusal("m: 1, n: 5, k: 2", "m: 0, n: 5, k: 2"), HasSubstr("'0'"));
  EXPECT_THAT(refusal("m: 1, n: 5, k: 2", "m: 2000000000, n: 2000000000, k: 2"), HasSubstr("2^50"));
  EXPECT_THAT(refusal("input_shape: [2]\n", ""), HasSubstr("input_shape"));
  EXPECT_THAT(refusal("kind: activation,", "kind: linear, shared: [fc.bias, fc.bias],"),
              HasSubstr("shared already"));
  EXPECT_THAT(refusal("activations: 10}", "activations: 4}"),
              AllOf(HasSubstr("'4'"), HasSubstr("5 elements")));
}

TEST_F(UserModelLayers, AreBoundedTogether) {
  const std::string half = "inputs: 0, activations: 34359738369}";  // 2^35 + 1
  const std::string layer = "  - {name: more, kind: pool, output: [5], " + half + "\n";
  EXPECT_EQ(refusal("inputs: 5, activations: 10}", half), "accepted");
  EXPECT_THAT(refusal("inputs: 5, activations: 10}", half + "\n" + layer), HasSubstr("2^36"));
  const std::string product = "{m: 1073741824, n: 1024, k: 512}";  // 2^49
  EXPECT_EQ(refusal("activations: 10}", "activations: 10, products: [" + product + "]}"),
            "accepted");
  EXPECT_THAT(
      refusal("activations: 10}", "activations: 10, products: [" + product + ", " + product + "]}"),
      HasSubstr("2^50"));
}

TEST_F(UserModelLayers, MustMakeTheTotalsTheyState) {
  EXPECT_THAT(refusal("macs: 10", "macs: 11"), AllOf(HasSubstr("'11'"), HasSubstr("expected 10")));
  EXPECT_THAT(refusal("parameter_bytes: 60", "parameter_bytes: 64"), HasSubstr("expected 60"));
  EXPECT_THAT(refusal("activation_bytes: 20", "activation_bytes: 5"), HasSubstr("expected 20"));
}

TEST_F(UserModelLayers, CannotBeLeftOutBesideAnInputShape) {
  const std::string text = kSmall;
  EXPECT_THROW(static_cast<void>(load(text.substr(0, text.find("layers:")))), InputError);
}

class WrittenModel : public testing::TestWithParam<std::string> {};

TEST_P(WrittenModel, ReadsBackTheSame) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "model.yaml";
  const UserModel written = of_network(GetParam(), 4);
  std::ofstream(file) << user_model_yaml(written);
  const UserModel read = load_user_model(file);

  EXPECT_EQ(user_model_yaml(read), user_model_yaml(written));
  EXPECT_EQ(read.model.total_macs(), written.model.total_macs());
  EXPECT_EQ(read.workload.times, TimesKind::kModelled);
  EXPECT_EQ(read.workload.times_from, written.workload.times_from);
  EXPECT_EQ(read.workload.backward_layers, written.workload.backward_layers);
  ASSERT_EQ(read.workload.layers.size(), written.workload.layers.size());
  for (std::size_t i = 0; i < read.workload.layers.size(); ++i) {
    EXPECT_EQ(read.workload.layers[i].forward_flops(), written.workload.layers[i].forward_flops());
    EXPECT_EQ(read.workload.layers[i].backward_flops(),
              written.workload.layers[i].backward_flops());
    EXPECT_EQ(read.workload.layers[i].backward_bytes, written.workload.layers[i].backward_bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, WrittenModel, testing::ValuesIn(model_ids()),
                         [](const auto& model) { return model.param; });

TEST(WrittenModel, QuotesWhatYamlWouldMisread) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "model.yaml";
  UserModel odd;
  odd.workload.name = "yes: #no";
  odd.workload.times_from = "a \"quoted\": line";
  odd.workload.forward_ns = 1e-5;
  odd.workload.tensors.push_back({"1.5", "- x", {2}, 8, 1e-5, 123456789012.25});
  std::ofstream(file) << user_model_yaml(odd);
  const Workload read = load_user_model(file).workload;
  EXPECT_EQ(read.name, odd.workload.name);
  EXPECT_EQ(read.times_from, odd.workload.times_from);
  EXPECT_EQ(read.tensors.at(0).name, "1.5");
  EXPECT_EQ(read.tensors.at(0).layer, "- x");
  EXPECT_EQ(read.tensors.at(0).backward_ns, 123456789012.25);
  EXPECT_TRUE(read.layers.empty());
}

}  // namespace
}  // namespace mergewise
