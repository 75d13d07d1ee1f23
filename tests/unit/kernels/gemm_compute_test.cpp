// SPDX-License-Identifier: Apache-2.0
#include "kernels/compute/gemm_compute.hpp"

#include "bench/core/error.hpp"
#include "bench/device/host/host_device.hpp"
#include "kernels/compute/gemm_buffers.hpp"
#include "kernels/compute/gemm_pass.hpp"
#include "layer_samples.hpp"
#include "recording_stream.hpp"
#include "tests/unit/device/allocation_counter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace mergewise {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(GemmCompute, AForwardStepIsALayerAndABackwardStepTheLayersOfItsTensor) {
  // Tensors in ready order: the second linear's weight and bias, then the first one's.
  const auto compute = make_gemm_compute({linear("fc1", 4), relu(800), relu(0), linear("fc2", 4)},
                                         {{3}, {}, {1, 2, 0}, {}});
  EXPECT_EQ(compute->id(), "gemm");
  ASSERT_EQ(compute->forward_steps(), 4U);
  RecordingStream stream;
  compute->resume(stream);
  EXPECT_EQ(stream.queued(), 0U);
  for (std::size_t step = 0; step < 4; ++step) compute->forward(stream, step);
  EXPECT_EQ(stream.queued(), 3U) << "the empty layer enqueues nothing";
  compute->backward(stream, 0);
  EXPECT_EQ(stream.queued(), 4U);
  compute->backward(stream, 1);
  EXPECT_EQ(stream.queued(), 4U);
  compute->backward(stream, 2);
  EXPECT_EQ(stream.queued(), 6U);
  compute->backward(stream, 3);
  EXPECT_EQ(stream.queued(), 6U);
  stream.synchronize();
}

TEST(GemmCompute, NumbersStayHarmlessHoweverOftenALayerRuns) {
  const GemmPlan plan = make_gemm_plan(layers_of_every_kind(2));
  const GemmBuffers buffers(plan);
  const auto run_all = [&] {
    for (const auto* passes : {&plan.forward, &plan.backward}) {
      for (const GemmPass& pass : *passes) {
        run_gemm_pass(pass, buffers.inputs(), buffers.outputs());
      }
    }
    return std::vector<float>(buffers.outputs(), buffers.outputs() + plan.output_floats);
  };
  const std::vector<float> once = run_all();
  for (const float value : once) {
    ASSERT_TRUE(value == 0 || std::isnormal(value)) << value;
  }
  for (int i = 0; i < 3; ++i) ASSERT_EQ(run_all(), once);
}

TEST(GemmCompute, WhatDoesNotFitIntoMemoryIsRefusedBeforeAnythingRuns) {
  const std::vector<LayerWork> layers{linear("fc1", 4), linear("enormous", 1 << 30),
                                      relu(Bytes{1} << 55)};
  try {
    static_cast<void>(make_gemm_compute(layers, {{2, 1, 0}}));
    FAIL();
  } catch (const BackendError& error) {
    EXPECT_THAT(error.what(), HasSubstr(std::to_string(make_gemm_plan(layers).memory())));
    EXPECT_THAT(error.what(), HasSubstr("layer relu"));
  }
}

std::string refusal(Bytes gradients, int ranks, Bytes available) {
  try {
    check_gemm_memory({conv()}, gradients, ranks, available);
  } catch (const BackendError& error) {
    return error.what();
  }
  return "";
}

TEST(GemmMemory, AllRanksOfAHostMustFitWithTheirGradients) {
  const Bytes buffers = make_gemm_plan({conv()}).memory();
  EXPECT_EQ(refusal(0, 1, buffers), "");
  EXPECT_EQ(refusal(1000, 1, buffers + 1000), "");
  EXPECT_EQ(refusal(1000, 3, 3 * (buffers + 1000)), "");
  EXPECT_NE(refusal(0, 1, buffers - 1), "");
  EXPECT_NE(refusal(1000, 1, buffers + 999), "");
  EXPECT_NE(refusal(1000, 3, 3 * (buffers + 1000) - 1), "");
}

TEST(GemmMemory, TheRefusalSaysWhatIsNeededAndWhatToDo) {
  const Bytes each = make_gemm_plan({conv()}).memory() + (Bytes{1} << 30);
  EXPECT_THAT(refusal(Bytes{1} << 30, 4, Bytes{1} << 31),
              AllOf(HasSubstr(std::to_string(each)), HasSubstr("each of 4 ranks on this host"),
                    HasSubstr("1.0 GiB of it for gradients"), HasSubstr("2.0 GiB are available"),
                    HasSubstr("conv1"), HasSubstr("fewer ranks")));
  EXPECT_THAT(refusal(0, 1, 0), AllOf(Not(HasSubstr("gradients")), Not(HasSubstr("fewer ranks"))));
}

TEST(GemmCompute, MisuseIsABug) {
  EXPECT_THROW(static_cast<void>(make_gemm_compute({linear("fc1", 4)}, {{1}})), std::logic_error);
  const auto compute = make_gemm_compute({linear("fc1", 4)}, {{0}});
  RecordingStream stream;
  EXPECT_THROW(compute->forward(stream, 1), std::logic_error);
  EXPECT_THROW(compute->backward(stream, 1), std::logic_error);
}

TEST(GemmCompute, EnqueueingAllocatesNothing) {
  const auto device = make_host_device();
  const auto compute = make_gemm_compute({linear("fc1", 4), relu(800)}, {{1, 0}});
  const auto stream = device->create_stream(StreamRole::kCompute);
  const auto before = allocation_count();
  for (int i = 0; i < 10; ++i) {
    compute->resume(*stream);
    compute->forward(*stream, 0);
    compute->forward(*stream, 1);
    compute->backward(*stream, 0);
  }
  stream->synchronize();
  EXPECT_EQ(allocation_count() - before, 0);
}

TEST(GemmCompute, UsesOneThreadUnlessTheUserSaysOtherwise) {
  for (const char* variable : {"OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS"}) {
    unsetenv(variable);
  }
  EXPECT_EQ(gemm_threads(), 1);
}

}  // namespace
}  // namespace mergewise
