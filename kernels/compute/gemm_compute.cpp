// SPDX-License-Identifier: Apache-2.0
#include "kernels/compute/gemm_compute.hpp"

#include "bench/core/error.hpp"
#include "bench/device/host/host_device.hpp"
#include "kernels/compute/gemm_buffers.hpp"
#include "kernels/compute/gemm_pass.hpp"

#include <cblas.h>

#include <utility>

namespace mergewise {
namespace {

class GemmCompute final : public Compute {
 public:
  GemmCompute(GemmPlan plan, std::vector<std::vector<std::size_t>> backward_layers)
      : plan_(std::move(plan)), backward_layers_(std::move(backward_layers)), buffers_(plan_) {}

  [[nodiscard]] std::string id() const override { return "gemm"; }
  void resume(Stream&) override {}  // real work needs no clock

  [[nodiscard]] std::size_t forward_steps() const override { return plan_.forward.size(); }
  void forward(Stream& stream, std::size_t begin, std::size_t end) override {
    for (std::size_t step = begin; step < end; ++step) enqueue(stream, plan_.forward.at(step));
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
        [this, &pass] { run_gemm_pass(pass, buffers_.inputs(), buffers_.outputs()); });
  }

  const GemmPlan plan_;
  const std::vector<std::vector<std::size_t>> backward_layers_;
  const GemmBuffers buffers_;
};

}  // namespace

std::unique_ptr<Compute> make_gemm_compute(const std::vector<LayerWork>& layers,
                                           std::vector<std::vector<std::size_t>> backward_layers) {
  for (const std::vector<std::size_t>& ends : backward_layers) {
    for (const std::size_t layer : ends) {
      MERGEWISE_CHECK(layer < layers.size(), "a tensor's backward work names no layer");
    }
  }
  GemmPlan plan = make_gemm_plan(layers);
  check_gemm_memory(plan, 0, 1, available_memory());
  default_to_one_blas_thread();
  return std::make_unique<GemmCompute>(std::move(plan), std::move(backward_layers));
}

void check_gemm_memory(const std::vector<LayerWork>& layers, Bytes gradients, int ranks,
                       Bytes available) {
  check_gemm_memory(make_gemm_plan(layers), gradients, ranks, available);
}

int gemm_threads() {
  default_to_one_blas_thread();
  return openblas_get_num_threads();
}

}  // namespace mergewise
