// SPDX-License-Identifier: Apache-2.0
// Names for the parameters of a trace.
#include "tests/temporary_folder.hpp"
#include "tests/unit/workloads/trace_writer.hpp"
#include "workloads/torch_trace.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace mergewise {
namespace {

using testing::ElementsAre;

class TorchTraceNames : public testing::Test {
 protected:
  TorchTraceNames() { trace_.forward("aten::conv2d", 0, 5, 100); }

  // Gradients of the shapes after a function, at the next free 20 us.
  void node(const std::string& name, const std::vector<std::string>& shapes) {
    trace_.node(name, at_, 1, sequence_--);
    double at = at_ + 2;
    for (const std::string& shape : shapes) {
      trace_.gradient(at, 1, shape);
      at += 2;
    }
    at_ += 20;
  }
  std::vector<std::string> names() {
    const TemporaryFolder folder;
    std::vector<std::string> names;
    const auto file = folder.write("trace.json", trace_.text());
    for (const auto& tensor : import_torch_trace(file, {"", 1}).user_model.workload.tensors) {
      EXPECT_EQ(tensor.name.substr(0, tensor.name.rfind('.')), tensor.layer);
      names.push_back(tensor.name);
    }
    return names;
  }

  TraceWriter trace_;
  double at_ = 100;
  int sequence_ = 100;
};

TEST_F(TorchTraceNames, CountOperationsInForwardOrder) {
  node("ConvolutionBackward0", {"[8, 4, 3, 3]", "[8]"});
  node("NativeBatchNormBackward0", {"[4]", "[4]"});
  node("CudnnConvolutionBackward", {"[4, 3, 3, 3]"});
  EXPECT_THAT(names(), ElementsAre("conv_2.weight", "conv_2.bias", "batch_norm_1.weight",
                                   "batch_norm_1.bias", "conv_1.weight"));
}

TEST_F(TorchTraceNames, GiveALinearLayersTransposedWeightToIt) {
  node("AddmmBackward0", {"[8]"});
  node("TBackward0", {"[8, 4]"});
  node("MmBackward0", {});
  node("ToCopyBackward0", {});
  node("TBackward0", {"[4, 4]"});
  EXPECT_THAT(names(), ElementsAre("linear_2.bias", "linear_2.weight", "linear_1.weight"));
}

TEST_F(TorchTraceNames, KnowNormsAndEmbeddings) {
  node("NativeLayerNormBackward0", {"[4]", "[4]"});
  node("CudnnBatchNormBackward", {"[4]"});
  node("EmbeddingDenseBackward0", {"[10, 4]"});
  EXPECT_THAT(names(), ElementsAre("layer_norm_1.weight", "layer_norm_1.bias",
                                   "batch_norm_1.weight", "embedding_1.weight"));
}

TEST_F(TorchTraceNames, CallOthersByTheirOwnName) {
  node("torch::jit::DifferentiableGraphBackward", {"[4]"});
  node("MulBackward0", {"[]"});
  node("MyRNNCellBackward", {"[4, 4]", "[4, 2]"});
  EXPECT_THAT(names(), ElementsAre("differentiable_graph_1.weight", "mul_1.weight",
                                   "my_rnncell_1.weight", "my_rnncell_1.weight_2"));
}

// Autograd has a thread for each device.
TEST_F(TorchTraceNames, AreOfTheFunctionInTheGradientsThread) {
  trace_.node("EmbeddingBackward0", 100, 1, 100, 1);
  trace_.node("AddmmBackward0", 102, 1, 99, 2);
  trace_.gradient(104, 1, "[10, 4]", 1);
  EXPECT_THAT(names(), ElementsAre("embedding_1.weight"));
}

TEST_F(TorchTraceNames, AreTheInnermostModulesWhereTheTraceHasThem) {
  trace_.forward("aten::addmm", 10, 5, 100);
  trace_.event("python_function", "nn.Module: Net_0", 0, 50, 1, R"("Python id": 1)");
  trace_.event("python_function", "nn.Module: Linear_3", 9, 7, 1, R"("Python id": 2)");
  trace_.event("python_function", "linear.py(114): forward", 9.5, 6, 1, R"("Python id": 3)");
  node("AddmmBackward0", {"[8]"});
  node("TBackward0", {"[8, 4]"});
  node("ConvolutionBackward0", {"[8, 4, 3, 3]"});
  EXPECT_THAT(names(), ElementsAre("Linear_3.bias", "Linear_3.weight", "conv_1.weight"));
}

TEST_F(TorchTraceNames, AreUniqueInAModuleOfSeveralOperations) {
  trace_.forward("aten::addmm", 10, 5, 99);
  trace_.forward("aten::addmm", 20, 5, 100);
  trace_.event("python_function", "nn.Module: Attention_0", 5, 50, 1, "");
  node("AddmmBackward0", {"[8]"});
  node("AddmmBackward0", {"[4]"});
  EXPECT_THAT(names(), ElementsAre("Attention_0.bias", "Attention_0.bias_2"));
}

}  // namespace
}  // namespace mergewise
