// SPDX-License-Identifier: Apache-2.0
// The two buffers that a gemm plan runs on, and BLAS as every user of such a plan wants it.
#pragma once

#include "bench/device/device.hpp"
#include "kernels/compute/gemm_plan.hpp"

#include <memory>

namespace mergewise {

/// Host memory: the inputs hold small numbers of both signs and are never written again, so that no
/// pass, however often it runs, ends in denormals or infinities, which some processors are slow
/// with. Throws BackendError with the size where it does not fit.
class GemmBuffers {
 public:
  explicit GemmBuffers(const GemmPlan& plan);
  [[nodiscard]] const float* inputs() const { return inputs_; }
  [[nodiscard]] float* outputs() const { return outputs_; }

 private:
  std::unique_ptr<Buffer> input_buffer_;
  std::unique_ptr<Buffer> output_buffer_;
  const float* inputs_;
  float* outputs_;
};

/// Throws BackendError where `ranks` processes, each with the plan's buffers and `gradients` bytes
/// beside them, need more than `available`.
void check_gemm_memory(const GemmPlan& plan, Bytes gradients, int ranks, Bytes available);

/// One thread, unless the user chose a number in one of OpenBLAS's own variables.
void default_to_one_blas_thread();

}  // namespace mergewise
