// SPDX-License-Identifier: Apache-2.0
// Importing traces of PyTorch's profiler: times, iterations and batch. torch_trace_faults_test.cpp
// has what is refused, torch_trace_names_test.cpp names.
#include "workloads/torch_trace.hpp"

#include "tests/temporary_folder.hpp"
#include "tests/unit/workloads/trace_writer.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace mergewise {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pointwise;

class TorchTrace : public testing::Test {
 protected:
  ImportedModel import(const std::string& text, const TorchTraceOptions& options = {}) {
    return import_torch_trace(folder_.write("net.pt.trace.json", text), options);
  }
  Workload workload(const TraceWriter& trace, const TorchTraceOptions& options = {}) {
    return import(trace.text(), options).user_model.workload;
  }
  // In microseconds, from the start of the backward pass.
  static std::vector<double> ready(const Workload& workload) {
    std::vector<double> times;
    double at = 0;
    for (const WorkloadTensor& tensor : workload.tensors) {
      at += tensor.backward_ns / 1e3;
      times.push_back(at);
    }
    return times;
  }

  TemporaryFolder folder_;
};

MATCHER(IsNear, "") { return std::abs(std::get<0>(arg) - std::get<1>(arg)) < 0.01; }
auto are_near(const std::vector<double>& times) { return Pointwise(IsNear(), times); }

TEST_F(TorchTrace, TakesTheEndOfAccumulateGradOnACpu) {
  TraceWriter trace;
  trace.iteration(0, 5);
  const Workload made = workload(trace);
  EXPECT_THAT(ready(made), are_near({10, 20, 32, 34}));
  EXPECT_NEAR(made.forward_ns, 20e3, 10);
  EXPECT_EQ(made.name, "net");
  EXPECT_EQ(made.batch, 4);
  EXPECT_EQ(made.times, TimesKind::kMeasured);
  EXPECT_THAT(made.times_from, HasSubstr("net.pt.trace.json, CPU, median of 1 iteration"));
}

TEST_F(TorchTrace, MakesAModelOfTheTensorsInReadyOrder) {
  TraceWriter trace;
  trace.iteration(0, 5);
  const UserModel made = import(trace.text()).user_model;
  EXPECT_THAT(made.model.ready_order, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(made.model.tensors[1].shape, ElementsAre(2, 8));
  EXPECT_EQ(made.workload.tensors[1].bytes, 64);
  EXPECT_TRUE(made.model.layers.empty());
  double forward = 0;
  for (const WorkloadTensor& tensor : made.workload.tensors) forward += tensor.forward_ns;
  EXPECT_NEAR(forward, made.workload.forward_ns, 1e-6);
}

TEST_F(TorchTrace, TakesTheMedianOfEachTensorOverTheIterations) {
  TraceWriter trace;
  trace.iteration(0, 5, 0);
  trace.iteration(1000, 8, 2);
  trace.iteration(2000, 11, 0.5);
  const Workload made = workload(trace);
  EXPECT_THAT(ready(made), are_near({10.5, 20.5, 32, 34}));
  EXPECT_THAT(made.times_from, HasSubstr("median of 3 iterations"));
}

// Data loaders' operations carry the number that the first function will get.
TEST_F(TorchTrace, LeavesLoadingAndZeroingOutOfTheForwardPass) {
  TraceWriter trace;
  trace.forward("aten::copy_", 0, 5, 5, "[[224, 3]]");
  trace.iteration(0, 5);
  trace.event("user_annotation", "Optimizer.zero_grad#SGD.zero_grad", 31, 15, 1, "");
  trace.event("cpu_op", "aten::zero_", 32, 10, 1, R"("Input Dims": [[2, 8]])");
  trace.forward("aten::argmax", 31, 2, 8);
  EXPECT_NEAR(workload(trace).forward_ns, 20e3, 10);
}

TEST_F(TorchTrace, CountsTwoPassesOfOneStepAsTwoIterations) {
  TraceWriter trace;
  trace.event("user_annotation", "ProfilerStep#3", 0, 1000, 1, "");
  trace.iteration(0, 5);
  trace.iteration(300, 8);
  EXPECT_THAT(workload(trace).times_from, HasSubstr("2 iterations"));
}

TEST_F(TorchTrace, PassesOverPassesWithoutGradients) {
  TraceWriter trace;
  trace.forward("aten::sum", 0, 5, 3);
  trace.node("SumBackward0", 6, 2, 3);
  trace.iteration(10, 5);
  EXPECT_THAT(workload(trace).times_from, HasSubstr("1 iteration"));
}

// A function that computes part of the forward pass again has new functions run within it.
TEST_F(TorchTrace, TakesFunctionsWithinAFunctionAsPartOfIt) {
  TraceWriter trace;
  trace.iteration(0, 5);
  trace.node("MulBackward0", 76, 1, 12);
  EXPECT_THAT(workload(trace).times_from, HasSubstr("1 iteration"));
}

// The iteration, all of it launched by the host long before the device ends it; beside it, a thread
// that loads data.
TraceWriter device_trace() {
  TraceWriter trace;
  trace.iteration(0, 5);
  trace.forward("aten::copy_", 45, 2, 5, "[[3, 3]]", 2);
  trace.launch(12, 1);
  trace.work(100, 300, 1);
  trace.launch(24, 2);
  trace.work(400, 100, 2);
  trace.launch(40, 3);  // zeroing gradients
  trace.work(500, 50, 3, 7, "Memset (Device)", "gpu_memset");
  trace.launch(51, 4);
  trace.work(560, 40, 4);
  trace.launch(53, 5);
  trace.work(600, 60, 5);
  trace.launch(65, 6);
  trace.work(660, 10, 6);
  trace.launch(77, 7);
  trace.work(700, 200, 7);
  return trace;
}

TEST_F(TorchTrace, TakesTheEndOfWhatWasLaunchedOnAGpu) {
  const Workload made = workload(device_trace());
  EXPECT_THAT(ready(made), are_near({100, 110, 340, 340}));
  EXPECT_NEAR(made.forward_ns, 400e3, 10);
  EXPECT_THAT(made.times_from, HasSubstr("device 0 stream 7"));
}

TEST_F(TorchTrace, LeavesOutNcclAndOtherStreams) {
  TraceWriter trace = device_trace();
  trace.launch(54, 20);
  trace.work(650, 5000, 20, 21, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  trace.launch(55, 21);
  trace.work(650, 4000, 21, 7, "ncclKernel_AllReduce_RING_LL_Sum_float");
  trace.launch(56, 22);
  trace.work(650, 3000, 22, 22, "Memcpy HtoD", "gpu_memcpy");
  const ImportedModel made = import(trace.text());
  EXPECT_THAT(ready(made.user_model.workload), are_near({100, 110, 340, 340}));
  EXPECT_THAT(made.notes, Contains(HasSubstr("interference")));
  EXPECT_THAT(made.user_model.workload.times_from, HasSubstr("with communication beside it"));
}

TEST_F(TorchTrace, CountsCopiesOnTheComputeStream) {
  TraceWriter trace = device_trace();
  trace.launch(57, 23);
  trace.work(660, 90, 23, 7, "Memcpy DtoD", "gpu_memcpy");
  EXPECT_THAT(ready(workload(trace)), are_near({190, 190, 340, 340}));
}

TEST_F(TorchTrace, NotesWorkWhoseLaunchIsMissing) {
  TraceWriter trace = device_trace();
  trace.work(90, 5, 30);  // launched before the recording began
  trace.work(920, 20, 31);
  trace.work(950, 10, 32, 7, "Memcpy DtoD", "gpu_memcpy");
  trace.work(960, 500, 33, 21);  // another stream
  const ImportedModel made = import(trace.text());
  EXPECT_THAT(ready(made.user_model.workload), are_near({100, 110, 340, 340}));
  EXPECT_THAT(made.notes, Contains(AllOf(HasSubstr("2 of 9 kernels"), HasSubstr("3.8 %"))));
  EXPECT_THAT(import(device_trace().text()).notes, Not(Contains(HasSubstr("kernels"))));
}

TEST_F(TorchTrace, ReadsTheFormsOfOlderVersions) {
  const TraceWriter trace = device_trace();
  std::string text = trace.text();
  const auto replace = [&](const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
      text.replace(at, from.size(), to);
    }
  };
  replace("\"cpu_op\"", "\"Operator\"");
  replace("\"cuda_runtime\"", "\"Runtime\"");
  replace("\"Input Dims\"", "\"Input dims\"");
  replace("\"kernel\"", "\"Kernel\"");
  replace("\"tid\": 1,", "\"tid\": \"1\",");
  replace("\"tid\": 2,", "\"tid\": \"2\",");
  replace("\"tid\": 7,", "\"tid\": \"stream 7\",");
  replace("\"Sequence number\": 5", "\"Sequence number\": \"5\"");
  EXPECT_THAT(ready(import(text).user_model.workload), are_near({100, 110, 340, 340}));
}

TEST_F(TorchTrace, ReadsAFileThatIsTheListOfEvents) {
  TraceWriter trace;
  trace.iteration(0, 5);
  trace.raw(R"({"name": "process_name", "ph": "M", "ts": 1, "args": {"name": "python"}})");
  EXPECT_THAT(ready(import(trace.list()).user_model.workload), are_near({10, 20, 32, 34}));
}

TEST_F(TorchTrace, KeepsFractionsOfTimesSince1970) {
  TraceWriter trace(1623142623460111.0);
  trace.iteration(0.25, 5, 0.75);
  EXPECT_THAT(ready(workload(trace)), are_near({10.75, 20.75, 32, 34}));
}

TEST_F(TorchTrace, TakesTheBatchFromTheFirstInputThatIsNoParameter) {
  TraceWriter trace;
  trace.forward("aten::embedding", 0, 5, 5, "[[10, 8], [4, 6], [], []]");
  trace.forward("aten::sum", 10, 5, 6);
  trace.node("SumBackward0", 20, 1, 6);
  trace.node("EmbeddingBackward0", 30, 5, 5);
  trace.gradient(36, 1, "[10, 8]");
  const ImportedModel made = import(trace.text());
  EXPECT_EQ(made.user_model.workload.batch, 4);
  EXPECT_THAT(made.notes, Contains(HasSubstr("aten::embedding of [4, 6]")));
}

TEST_F(TorchTrace, LetsTheUserSayNameAndBatch) {
  TraceWriter trace;
  trace.iteration(0, 5);
  const ImportedModel made = import(trace.text(), {"mine", 32});
  EXPECT_EQ(made.user_model.workload.name, "mine");
  EXPECT_EQ(made.user_model.workload.batch, 32);
  EXPECT_THAT(made.notes, IsEmpty());
}

TEST_F(TorchTrace, NotesGradientsOfOtherTypes) {
  TraceWriter trace;
  trace.iteration(0, 5);
  trace.gradient(90, 1, "[16]", 1, "c10::BFloat16");
  const ImportedModel made = import(trace.text());
  EXPECT_THAT(made.notes, Contains(HasSubstr("c10::BFloat16 are replayed as fp32")));
  EXPECT_EQ(made.user_model.workload.tensors.back().bytes, 64);
}

TEST_F(TorchTrace, LeavesOutUndefinedGradientsButNotScalars) {
  TraceWriter trace;
  trace.iteration(0, 5);
  trace.gradient(86, 1, "[]", 1, "");
  trace.gradient(88, 1, "[]", 1, "float");
  const Workload made = workload(trace);
  ASSERT_EQ(made.tensors.size(), 5U);
  EXPECT_TRUE(made.tensors.back().shape.empty());
  EXPECT_EQ(made.tensors.back().bytes, 4);
}

// Recorded, not made up; the times were computed from it by a program of their own.
TEST_F(TorchTrace, ReadsARecordedTrace) {
  const ImportedModel made = import_torch_trace(
      MERGEWISE_SOURCE_DIR "/tests/golden/traces/torch_2_4_cpu.json", TorchTraceOptions{});
  const Workload& recorded = made.user_model.workload;
  EXPECT_EQ(recorded.batch, 3);
  EXPECT_THAT(recorded.times_from, HasSubstr("median of 2 iterations"));
  EXPECT_THAT(recorded.forward_ns, DoubleNear(422069.6, 1));
  EXPECT_THAT(ready(recorded),
              are_near({86.684, 128.246, 131.717, 167.935, 171.080, 343.918, 347.058, 384.218}));
  std::vector<std::string> names;
  for (const WorkloadTensor& tensor : recorded.tensors) names.push_back(tensor.name);
  EXPECT_THAT(names, ElementsAre("Linear_0.bias", "LayerNorm_0.weight", "LayerNorm_0.bias",
                                 "BatchNorm1d_0.weight", "BatchNorm1d_0.bias", "Conv1d_0.weight",
                                 "Conv1d_0.bias", "Embedding_0.weight"));
  EXPECT_THAT(recorded.tensors.back().shape, ElementsAre(10, 4));
}

}  // namespace
}  // namespace mergewise
