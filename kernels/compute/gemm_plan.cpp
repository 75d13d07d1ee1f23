// SPDX-License-Identifier: Apache-2.0
#include "kernels/compute/gemm_plan.hpp"

#include "bench/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace mergewise {
namespace {

constexpr Bytes kFloat = static_cast<Bytes>(sizeof(float));
// Half of it is read and half of it written.
constexpr Bytes kSweptTraffic = 2 * kFloat;
// More than any machine has, and far from overflow when two of them are added and made bytes.
constexpr std::int64_t kAbsurdFloats = std::int64_t{1} << 58;

std::int64_t floats(std::int64_t each, std::int64_t count) {
  return each > kAbsurdFloats / std::max<std::int64_t>(count, 1) ? kAbsurdFloats : each * count;
}

std::int64_t input_floats(const GemmPass& pass) {
  std::int64_t most = pass.swept_floats;
  for (const ProductCall& call : pass.products) {
    most = std::max(most, floats(call.a_floats() + call.b_floats(), call.count));
  }
  return most;
}

std::int64_t output_floats(const GemmPass& pass) {
  std::int64_t most = pass.swept_floats;
  for (const ProductCall& call : pass.products) {
    most = std::max(most, floats(call.c_floats(), call.count));
  }
  return most;
}

GemmPass make_pass(const std::string& layer, const std::vector<Gemm>& products, Bytes bytes) {
  constexpr std::int64_t kLargest = std::numeric_limits<int>::max();
  GemmPass pass;
  for (const Gemm& gemm : products) {
    if (gemm.m <= 0 || gemm.n <= 0 || gemm.k <= 0 || gemm.count <= 0) continue;
    if (gemm.m > kLargest || gemm.n > kLargest || gemm.k > kLargest) {
      throw UnsupportedError(fmt::format(
          "layer {}: its product of {} x {} x {} is beyond what BLAS can take (2^31 - 1 "
          "in each dimension); use a smaller batch, or compute mode timed",
          layer, gemm.m, gemm.n, gemm.k));
    }
    pass.products.push_back(
        {static_cast<int>(gemm.m), static_cast<int>(gemm.n), static_cast<int>(gemm.k), gemm.count});
  }
  // The products of a layer already move its bytes.
  if (pass.products.empty()) pass.swept_floats = bytes / kSweptTraffic;
  return pass;
}

}  // namespace

double ProductCall::flops() const {
  return 2.0 * static_cast<double>(m) * n * k * static_cast<double>(count);
}

double GemmPass::flops() const {
  double sum = 0;
  for (const ProductCall& call : products) sum += call.flops();
  return sum;
}

Bytes GemmPlan::memory() const { return (input_floats + output_floats) * kFloat; }

GemmPlan make_gemm_plan(const std::vector<LayerWork>& layers) {
  GemmPlan plan;
  std::int64_t largest = 0;
  for (const LayerWork& work : layers) {
    plan.forward.push_back(make_pass(work.layer, work.forward, work.forward_bytes));
    plan.backward.push_back(make_pass(work.layer, work.backward, work.backward_bytes));
    for (const GemmPass* pass : {&plan.forward.back(), &plan.backward.back()}) {
      const std::int64_t inputs = input_floats(*pass);
      const std::int64_t outputs = output_floats(*pass);
      plan.input_floats = std::max(plan.input_floats, inputs);
      plan.output_floats = std::max(plan.output_floats, outputs);
      if (inputs + outputs > largest) {
        largest = inputs + outputs;
        plan.largest_layer = work.layer;
      }
    }
  }
  return plan;
}

}  // namespace mergewise
