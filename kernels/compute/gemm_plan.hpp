// SPDX-License-Identifier: Apache-2.0
// What gemm compute will run, as plain data: calls of BLAS and memory sweeps over two buffers that
// all layers share.
#pragma once

#include "bench/core/units.hpp"
#include "workloads/layer_work.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace mergewise {

/// `count` products C[m x n] = A[m x k] B[k x n], row-major, fp32. The A lie one after the other at
/// the start of the inputs, the B after them, the C at the start of the outputs.
struct ProductCall {
  int m = 0;
  int n = 0;
  int k = 0;
  std::int64_t count = 0;
  [[nodiscard]] double flops() const;                                          ///< 2 m n k count
  [[nodiscard]] std::int64_t a_floats() const { return std::int64_t{m} * k; }  ///< of one product
  [[nodiscard]] std::int64_t b_floats() const { return std::int64_t{k} * n; }
  [[nodiscard]] std::int64_t c_floats() const { return std::int64_t{m} * n; }
};

/// One direction of one layer: its products, or for a layer without products one sweep that reads
/// `swept_floats` inputs and writes as many outputs.
struct GemmPass {
  std::vector<ProductCall> products;
  std::int64_t swept_floats = 0;
  [[nodiscard]] bool empty() const { return products.empty() && swept_floats == 0; }
  [[nodiscard]] double flops() const;
};

struct GemmPlan {
  std::vector<GemmPass> forward;  ///< by layer
  std::vector<GemmPass> backward;
  std::int64_t input_floats = 0;  ///< what the neediest pass reads
  std::int64_t output_floats = 0;
  std::string largest_layer;  ///< the one whose own need is the largest
  [[nodiscard]] Bytes memory() const;
};

/// Products with a dimension of 0 are left out. Throws UnsupportedError, naming the layer, for a
/// product that is beyond BLAS's 32-bit dimensions.
[[nodiscard]] GemmPlan make_gemm_plan(const std::vector<LayerWork>& layers);

}  // namespace mergewise
