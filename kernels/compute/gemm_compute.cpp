// SPDX-License-Identifier: Apache-2.0
#include "kernels/compute/gemm_compute.hpp"

#include "bench/core/error.hpp"
#include "bench/device/host/host_device.hpp"
#include "bench/device/host/host_memory.hpp"
#include "kernels/compute/gemm_pass.hpp"
#include "kernels/compute/gemm_plan.hpp"

#include <cblas.h>
#include <fmt/format.h>

#include <cstdlib>
#include <utility>

namespace mergewise {
namespace {

// Unless the user chose a number in one of OpenBLAS's own variables.
void default_to_one_thread() {
  for (const char* variable : {"OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS"}) {
    if (std::getenv(variable) != nullptr) return;
  }
  openblas_set_num_threads(1);
}

std::unique_ptr<Buffer> make_floats(std::int64_t count) {
  return make_host_buffer(count * static_cast<Bytes>(sizeof(float)));
}

float* floats_of(Buffer& buffer) { return reinterpret_cast<float*>(buffer.data()); }

class GemmCompute final : public Compute {
 public:
  GemmCompute(GemmPlan plan, std::vector<std::vector<std::size_t>> backward_layers)
      : plan_(std::move(plan)),
        backward_layers_(std::move(backward_layers)),
        inputs_(make_floats(plan_.input_floats)),
        outputs_(make_floats(plan_.output_floats)) {
    // Small, of both signs, never rewritten: no product can end in denormals or infinities, which
    // some processors are slow with.
    float* inputs = floats_of(*inputs_);
    for (std::int64_t i = 0; i < plan_.input_floats; ++i) {
      inputs[i] = (static_cast<float>(i % 8) - 3.5F) / 8;
    }
  }

  [[nodiscard]] std::string id() const override { return "gemm"; }
  void resume(Stream&) override {}  // real work needs no clock

  [[nodiscard]] std::size_t forward_steps() const override { return plan_.forward.size(); }
  void forward(Stream& stream, std::size_t step) override {
    enqueue(stream, plan_.forward.at(step));
  }
  void backward(Stream& stream, std::size_t tensor) override {
    for (const std::size_t layer : backward_layers_.at(tensor)) {
      enqueue(stream, plan_.backward[layer]);
    }
  }

 private:
  void enqueue(Stream& stream, const GemmPass& pass) {
    if (pass.empty()) return;
    as_host(stream).enqueue(
        [this, &pass] { run_gemm_pass(pass, floats_of(*inputs_), floats_of(*outputs_)); });
  }

  const GemmPlan plan_;
  const std::vector<std::vector<std::size_t>> backward_layers_;
  std::unique_ptr<Buffer> inputs_;
  std::unique_ptr<Buffer> outputs_;
};

void check_memory(const GemmPlan& plan) {
  const Bytes available = available_memory();
  if (plan.memory() <= available) return;
  throw BackendError(fmt::format(
      "compute mode gemm needs {} ({} bytes), most of it for layer {}, but {} are available to "
      "this "
      "process; use a smaller batch, or compute mode timed",
      human_bytes(plan.memory()), plan.memory(), plan.largest_layer, human_bytes(available)));
}

}  // namespace

std::unique_ptr<Compute> make_gemm_compute(const std::vector<LayerWork>& layers,
                                           std::vector<std::vector<std::size_t>> backward_layers) {
  for (const std::vector<std::size_t>& ends : backward_layers) {
    for (const std::size_t layer : ends) {
      MERGEWISE_CHECK(layer < layers.size(), "a tensor's backward work names no layer");
    }
  }
  GemmPlan plan = make_gemm_plan(layers);
  check_memory(plan);
  default_to_one_thread();
  return std::make_unique<GemmCompute>(std::move(plan), std::move(backward_layers));
}

Bytes gemm_memory(const std::vector<LayerWork>& layers) { return make_gemm_plan(layers).memory(); }

int gemm_threads() {
  default_to_one_thread();
  return openblas_get_num_threads();
}

}  // namespace mergewise
