// SPDX-License-Identifier: Apache-2.0
// What gemm compute will run, as plain data: calls of BLAS, table look-ups and memory sweeps over
// two buffers that all layers share.
#pragma once

#include "bench/core/units.hpp"
#include "workloads/layer_work.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace mergewise {

/// The three products of a layer whose forward product is Y [m x n] = X [m x k] W^T. W is [n x k],
/// as PyTorch keeps weights; in an attention both X and W are activations.
enum class ProductRole {
  kForward,        ///< Y = X W^T
  kInputGradient,  ///< dX = dY W
  kWeightGradient  ///< dW = dY^T X
};

/// `count` products of row-major fp32 matrices, by blocks of rows: the implicit GEMM of a
/// convolution. Of X (or dX) only `block_rows` rows are in memory, about as many as the layer has
/// activations; every block goes over them again, as the windows of a convolution do.
struct ProductCall {
  ProductRole role = ProductRole::kForward;
  int m = 0;
  int n = 0;
  int k = 0;
  int block_rows = 0;      ///< 1..m; one call of BLAS for each block
  std::int64_t count = 1;  ///< the groups of a convolution: each has X, W and Y of its own ...
  /// ... one after the other: the X from the start of the buffer, W and Y from these places on.
  /// What the role writes lies in the outputs, what it reads in the inputs.
  std::int64_t w_begin = 0;
  std::int64_t y_begin = 0;
  [[nodiscard]] double flops() const;  ///< 2 m n k count
  [[nodiscard]] std::int64_t x_floats() const { return std::int64_t{block_rows} * k; }  ///< of one
  [[nodiscard]] std::int64_t w_floats() const { return std::int64_t{n} * k; }
  [[nodiscard]] std::int64_t y_floats() const { return std::int64_t{m} * n; }
};

/// An embedding: rows of a table, at pseudo-random places that are the same in every pass.
struct TableLookup {
  std::int64_t rows = 0;       ///< of the table
  std::int64_t width = 0;      ///< floats in a row
  std::int64_t positions = 0;  ///< rows that are looked up; 0: no look-up
  bool scatter =
      false;  ///< zero a table of gradients and add the positions' rows, else gather rows
};

/// Reads `floats` floats and writes as many, from the starts of the buffers, beginning again where
/// a layer's own activations end.
struct MemorySweep {
  std::int64_t floats = 0;
  std::int64_t read_period = 0;     ///< 1..floats
  std::int64_t written_period = 0;  ///< 1..floats
};

/// One direction of one layer: its products, or a look-up, or a sweep.
struct GemmPass {
  std::vector<ProductCall> products;
  TableLookup lookup;
  MemorySweep sweep;
  [[nodiscard]] bool empty() const {
    return products.empty() && lookup.positions == 0 && sweep.floats == 0;
  }
  [[nodiscard]] double flops() const;
  [[nodiscard]] std::int64_t input_floats() const;   ///< what it needs of the inputs
  [[nodiscard]] std::int64_t output_floats() const;  ///< and of the outputs
};

struct GemmPlan {
  std::vector<GemmPass> forward;  ///< by layer
  std::vector<GemmPass> backward;
  std::int64_t input_floats = 0;  ///< what the neediest pass reads
  std::int64_t output_floats = 0;
  std::string largest_layer;  ///< the one whose own need is the largest
  [[nodiscard]] Bytes memory() const;
};

/// A layer's flops are those of its LayerWork. It reads its inputs, its weight and the gradient of
/// its outputs, and writes its outputs, or the gradients of its inputs and weight. Products with a
/// dimension of 0 are left out. Throws UnsupportedError, naming the layer, for a product that is
/// beyond BLAS's 32-bit dimensions.
[[nodiscard]] GemmPlan make_gemm_plan(const std::vector<LayerWork>& layers);

}  // namespace mergewise
