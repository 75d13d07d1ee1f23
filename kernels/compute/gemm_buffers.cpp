// SPDX-License-Identifier: Apache-2.0
#include "kernels/compute/gemm_buffers.hpp"

#include "bench/core/error.hpp"
#include "bench/device/host/host_memory.hpp"

#include <cblas.h>
#include <fmt/format.h>

#include <cstdlib>
#include <string>

namespace mergewise {
namespace {

std::unique_ptr<Buffer> make_floats(std::int64_t count) {
  return make_host_buffer(count * static_cast<Bytes>(sizeof(float)));
}

float* floats_of(Buffer& buffer) { return reinterpret_cast<float*>(buffer.data()); }

std::string sized(Bytes bytes) { return fmt::format("{} ({} bytes)", human_bytes(bytes), bytes); }

}  // namespace

GemmBuffers::GemmBuffers(const GemmPlan& plan)
    : input_buffer_(make_floats(plan.input_floats)),
      output_buffer_(make_floats(plan.output_floats)),
      inputs_(floats_of(*input_buffer_)),
      outputs_(floats_of(*output_buffer_)) {
  float* inputs = floats_of(*input_buffer_);
  for (std::int64_t i = 0; i < plan.input_floats; ++i) {
    // Sixteenths between -0.47 and 0.47, without a period that rows could share.
    const auto mixed = static_cast<std::uint32_t>(i) * 2654435761U;
    inputs[i] = (static_cast<float>((mixed >> 20U) % 16U) - 7.5F) / 16;
  }
}

void check_gemm_memory(const GemmPlan& plan, Bytes gradients, int ranks, Bytes available) {
  const Bytes each = plan.memory() + gradients;
  if (each <= available / ranks) return;
  const std::string parts =
      gradients == 0 ? "" : fmt::format(", {} of it for gradients", human_bytes(gradients));
  throw BackendError(fmt::format(
      "compute mode gemm needs {} for {}{}, and most for layer {}, but {} are available to this "
      "process; use a smaller batch{}, or compute mode timed",
      sized(each), ranks == 1 ? "a rank" : fmt::format("each of {} ranks on this host", ranks),
      parts, plan.largest_layer, human_bytes(available),
      ranks == 1 ? "" : ", fewer ranks on a host"));
}

void default_to_one_blas_thread() {
  for (const char* variable : {"OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS"}) {
    if (std::getenv(variable) != nullptr) return;
  }
  openblas_set_num_threads(1);
}

}  // namespace mergewise
