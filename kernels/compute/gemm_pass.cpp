// SPDX-License-Identifier: Apache-2.0
#include "kernels/compute/gemm_pass.hpp"

#include <cblas.h>

namespace mergewise {
namespace {

void run_product(const ProductCall& call, const float* inputs, float* outputs) {
  const float* a = inputs;
  const float* b = inputs + call.a_floats() * call.count;
  float* c = outputs;
  for (std::int64_t i = 0; i < call.count; ++i) {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, call.m, call.n, call.k, 1.0F, a, call.k,
                b, call.n, 0.0F, c, call.n);
    a += call.a_floats();
    b += call.b_floats();
    c += call.c_floats();
  }
}

// Not a plain copy: the compiler would call memcpy, whose streaming stores move fewer bytes.
void sweep(std::int64_t floats, const float* inputs, float* outputs) {
  for (std::int64_t i = 0; i < floats; ++i) outputs[i] = 0.5F * inputs[i];
}

}  // namespace

void run_gemm_pass(const GemmPass& pass, const float* inputs, float* outputs) {
  for (const ProductCall& call : pass.products) run_product(call, inputs, outputs);
  sweep(pass.swept_floats, inputs, outputs);
}

}  // namespace mergewise
