// SPDX-License-Identifier: Apache-2.0
// Traces that cannot be imported: each message says what is missing and how to record it.
#include "bench/core/error.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/unit/workloads/trace_writer.hpp"
#include "workloads/torch_trace.hpp"

#include <gmock/gmock.h>

#include <string>

namespace mergewise {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class TorchTraceFaults : public testing::Test {
 protected:
  std::string refusal(const std::string& text) {
    try {
      static_cast<void>(import_torch_trace(folder_.write("trace.json", text), {}));
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("trace.json: "));
      return error.what();
    }
    return "accepted";
  }
  std::string refusal() { return refusal(trace_.text()); }

  TemporaryFolder folder_;
  TraceWriter trace_;
};

TEST_F(TorchTraceFaults, AMissingFile) {
  const auto missing = folder_.path() / "trace.json";
  EXPECT_THROW(static_cast<void>(import_torch_trace(missing, {})), InputError);
  EXPECT_THROW(static_cast<void>(import_torch_trace(folder_.path(), {})), InputError);
}

TEST_F(TorchTraceFaults, ACompressedFile) {
  EXPECT_THAT(refusal("\x1f\x8b\x08 and so on"), HasSubstr("gunzip -k"));
}

TEST_F(TorchTraceFaults, AFileThatIsNoTrace) {
  EXPECT_THAT(refusal(""), HasSubstr("is empty"));
  EXPECT_THAT(refusal("schema: mergewise/model/1\n"), HasSubstr("export_chrome_trace"));
  EXPECT_THAT(refusal(R"({"layers": []})"), HasSubstr("no list \"traceEvents\""));
  EXPECT_THAT(refusal("17"), HasSubstr("traceEvents"));
  EXPECT_THAT(refusal("[]"), HasSubstr("no events"));
  EXPECT_THAT(refusal(R"({"traceEvents": [1, [], "a", {}, null, {"args": {"Input Dims": 3}}]})"),
              HasSubstr("no events"));
}

TEST_F(TorchTraceFaults, AFileThatWasCutOff) {
  trace_.iteration(0, 5);
  const std::string text = trace_.text();
  for (const std::size_t length : {text.size() - 1, text.size() / 2, text.size() / 3 + 1}) {
    EXPECT_THAT(refusal(text.substr(0, length)),
                AllOf(HasSubstr("cut off"), HasSubstr(std::to_string(length))));
  }
}

TEST_F(TorchTraceFaults, InvalidJsonInTheMiddle) {
  trace_.iteration(0, 5);
  std::string text = trace_.text();
  text[text.find("\"ph\"")] = '?';
  EXPECT_THAT(refusal(text), HasSubstr("byte"));
}

TEST_F(TorchTraceFaults, NoBackwardPass) {
  trace_.forward("aten::conv2d", 0, 5, 1);
  EXPECT_THAT(refusal(), AllOf(HasSubstr("no backward pass"), HasSubstr("whole training steps")));
}

TEST_F(TorchTraceFaults, NoGradients) {
  trace_.forward("aten::conv2d", 0, 5, 1);
  trace_.node("ConvolutionBackward0", 10, 5, 1);
  EXPECT_THAT(refusal(), HasSubstr("AccumulateGrad"));
}

TEST_F(TorchTraceFaults, NoShapes) {
  trace_.forward("aten::conv2d", 0, 5, 1);
  trace_.node("ConvolutionBackward0", 10, 5, 1);
  trace_.event("cpu_op", "torch::autograd::AccumulateGrad", 16, 1, 1, R"("Ev Idx": 3)");
  EXPECT_THAT(refusal(), HasSubstr("record_shapes=True"));
}

// As a PyTorch without Kineto writes it: a list, no categories, no arguments.
TEST_F(TorchTraceFaults, ATraceWithoutKineto) {
  EXPECT_THAT(refusal(R"([{"name": "AddmmBackward0", "ph": "X", "ts": 1, "dur": 2, "tid": 1,
                           "pid": "CPU functions", "args": {}},
                          {"name": "torch::autograd::AccumulateGrad", "ph": "X", "ts": 4, "dur": 1,
                           "tid": 1, "pid": "CPU functions", "args": {}}])"),
              HasSubstr("without Kineto"));
}

TEST_F(TorchTraceFaults, NoSequenceNumbers) {
  trace_.gradient(16, 1, "[4]");
  EXPECT_THAT(refusal(), HasSubstr("sequence number"));
}

TEST_F(TorchTraceFaults, NoForwardPass) {
  trace_.node("ConvolutionBackward0", 10, 5, 1);
  trace_.gradient(16, 1, "[4]");
  EXPECT_THAT(refusal(), HasSubstr("forward pass of its backward pass 1"));
}

// Of one forward pass, backwards twice.
TEST_F(TorchTraceFaults, ASecondBackwardPassOfTheSameForwardPass) {
  trace_.iteration(0, 5);
  trace_.node("AddmmBackward0", 150, 5, 7);
  trace_.gradient(156, 1, "[2]");
  EXPECT_THAT(refusal(), HasSubstr("forward pass of its backward pass 2"));
}

TEST_F(TorchTraceFaults, PassesWithDifferentParameters) {
  trace_.iteration(0, 5);
  trace_.iteration(200, 8);
  trace_.gradient(290, 1, "[3]");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("pass 1 has 4, pass 2 has 5"), HasSubstr("the 5.")));
}

TEST_F(TorchTraceFaults, NoTime) {
  trace_.forward("aten::conv2d", 0, 5, 1);
  trace_.node("ConvolutionBackward0", 10, 0, 1);
  trace_.gradient(10, 0, "[4]");
  EXPECT_THAT(refusal(), HasSubstr("backward pass takes no time"));
}

TEST_F(TorchTraceFaults, ABatchThatNothingTells) {
  trace_.iteration(0, 5);
  for (int i = 0; i < 8; ++i) trace_.node("MulBackward0", 85 + i, 1, 4 - i, 1, "[[64, 2]]");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("--batch N"), HasSubstr("64")));
}

TEST_F(TorchTraceFaults, ABatchThatNoModelFileMayHave) {
  trace_.iteration(0, 5);
  const auto file = folder_.write("trace.json", trace_.text());
  EXPECT_EQ(import_torch_trace(file, {"", 1 << 20}).user_model.workload.batch, 1 << 20);
  try {
    static_cast<void>(import_torch_trace(file, {"", (1 << 20) + 1}));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("trace.json: batch is 1048577"),
                                    HasSubstr("expected 1 to 1048576")));
  }
}

TEST_F(TorchTraceFaults, ADevicesPassWithoutItsKernels) {
  trace_.forward("aten::conv2d", 0, 5, 1);
  trace_.node("ConvolutionBackward0", 10, 5, 1, 2);
  trace_.gradient(16, 1, "[4]", 2);
  EXPECT_THAT(refusal(), HasSubstr("ProfilerActivity.CUDA"));
}

TEST_F(TorchTraceFaults, KernelsWithoutTheirLaunches) {
  trace_.iteration(0, 5);
  trace_.work(20, 10, 1);
  EXPECT_THAT(refusal(), HasSubstr("launches"));
}

TEST_F(TorchTraceFaults, TooMuchWorkWithoutItsLaunch) {
  trace_.iteration(0, 5);
  trace_.launch(12, 1);
  trace_.work(100, 500, 1);
  trace_.launch(52, 2);
  trace_.work(600, 440, 2);
  trace_.work(1100, 60, 3);
  EXPECT_THAT(refusal(), AllOf(HasSubstr("of 1 of the 3 kernels"), HasSubstr("6.0 % of their time"),
                               HasSubstr("at most 5 %")));
}

TEST_F(TorchTraceFaults, CheckpointsWhoseInputsLookLikeParameters) {
  trace_.iteration(0, 5);
  trace_.node("CheckpointFunctionBackward", 90, 2, 4);
  EXPECT_THAT(refusal(), HasSubstr("use_reentrant=False"));
}

TEST_F(TorchTraceFaults, AnImpossibleShape) {
  trace_.iteration(0, 5);
  trace_.gradient(90, 1, "[1048576, 1048577]");
  EXPECT_THAT(refusal(), HasSubstr("2^40"));
}

}  // namespace
}  // namespace mergewise
