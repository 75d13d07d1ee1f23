// SPDX-License-Identifier: Apache-2.0
#include "kernels/compute/gemm_compute.hpp"

#include "bench/core/error.hpp"
#include "bench/device/host/host_device.hpp"
#include "recording_stream.hpp"
#include "tests/unit/device/allocation_counter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace mergewise {
namespace {

using ::testing::HasSubstr;

LayerWork linear(const std::string& name, std::int64_t batch) {
  Gemm product;
  product.m = batch;
  product.n = 32;
  product.k = 16;
  LayerWork work;
  work.layer = name;
  work.kind = LayerKind::kLinear;
  work.forward = {product};
  work.backward = {product, product};
  return work;
}

LayerWork activation(Bytes bytes) {
  LayerWork work;
  work.layer = "relu";
  work.kind = LayerKind::kActivation;
  work.forward_bytes = bytes;
  work.backward_bytes = bytes;
  return work;
}

TEST(GemmCompute, AForwardStepIsALayerAndABackwardStepTheLayersOfItsTensor) {
  // Tensors in ready order: the second linear's weight and bias, then the first one's.
  const auto compute =
      make_gemm_compute({linear("fc1", 4), activation(800), activation(0), linear("fc2", 4)},
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

TEST(GemmCompute, WhatDoesNotFitIntoMemoryIsRefusedBeforeAnythingRuns) {
  const std::vector<LayerWork> layers{linear("fc1", 4), linear("enormous", 1 << 30),
                                      activation(Bytes{1} << 55)};
  try {
    static_cast<void>(make_gemm_compute(layers, {{2, 1, 0}}));
    FAIL();
  } catch (const BackendError& error) {
    EXPECT_THAT(error.what(), HasSubstr(std::to_string(gemm_memory(layers))));
    EXPECT_THAT(error.what(), HasSubstr("layer relu"));
  }
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
  const auto compute = make_gemm_compute({linear("fc1", 4), activation(800)}, {{1, 0}});
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
