// SPDX-License-Identifier: Apache-2.0
#include "kernels/compute/gemm_pass.hpp"

#include <cblas.h>

#include <algorithm>

namespace mergewise {
namespace {

// One product, block after block: only the first rows of X exist, and serve all blocks.
template <typename Block>
void for_blocks(const ProductCall& call, const Block& block) {
  for (std::int64_t row = 0; row < call.m; row += call.block_rows) {
    block(row, static_cast<int>(std::min<std::int64_t>(call.block_rows, call.m - row)));
  }
}

void multiply_forward(const ProductCall& call, const float* x, const float* w, float* y) {
  for_blocks(call, [&](std::int64_t row, int rows) {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, call.n, call.k, 1.0F, x, call.k, w,
                call.k, 0.0F, y + row * call.n, call.n);
  });
}

void multiply_input_gradient(const ProductCall& call, const float* dy, const float* w, float* dx) {
  for_blocks(call, [&](std::int64_t row, int rows) {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, call.k, call.n, 1.0F,
                dy + row * call.n, call.n, w, call.k, 0.0F, dx, call.k);
  });
}

void multiply_weight_gradient(const ProductCall& call, const float* dy, const float* x, float* dw) {
  for_blocks(call, [&](std::int64_t row, int rows) {
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, call.n, call.k, rows, 1.0F,
                dy + row * call.n, call.n, x, call.k, row == 0 ? 0.0F : 1.0F, dw, call.k);
  });
}

void run_product(const ProductCall& call, const float* inputs, float* outputs) {
  for (std::int64_t i = 0; i < call.count; ++i) {
    const std::int64_t x = i * call.x_floats();
    const std::int64_t w = call.w_begin + i * call.w_floats();
    const std::int64_t y = call.y_begin + i * call.y_floats();
    switch (call.role) {
      case ProductRole::kForward:
        multiply_forward(call, inputs + x, inputs + w, outputs + y);
        break;
      case ProductRole::kInputGradient:
        multiply_input_gradient(call, inputs + y, inputs + w, outputs + x);
        break;
      case ProductRole::kWeightGradient:
        multiply_weight_gradient(call, inputs + y, inputs + x, outputs + w);
        break;
    }
  }
}

void gather(const TableLookup& lookup, const float* table, float* rows) {
  for (std::int64_t i = 0; i < lookup.positions; ++i) {
    const float* row = table + looked_up_row(i, lookup.rows) * lookup.width;
    std::copy_n(row, lookup.width, rows + i * lookup.width);
  }
}

void scatter_add(const TableLookup& lookup, const float* rows, float* table) {
  std::fill_n(table, lookup.rows * lookup.width, 0.0F);
  for (std::int64_t i = 0; i < lookup.positions; ++i) {
    float* sum = table + looked_up_row(i, lookup.rows) * lookup.width;
    const float* row = rows + i * lookup.width;
    for (std::int64_t j = 0; j < lookup.width; ++j) sum[j] += row[j];
  }
}

// Not a plain copy: the compiler would call memcpy, whose streaming stores move fewer bytes.
void sweep_memory(const MemorySweep& sweep, const float* inputs, float* outputs) {
  for (std::int64_t done = 0; done < sweep.floats;) {
    const std::int64_t read = done % sweep.read_period;
    const std::int64_t written = done % sweep.written_period;
    const std::int64_t part =
        std::min({sweep.floats - done, sweep.read_period - read, sweep.written_period - written});
    const float* from = inputs + read;
    float* to = outputs + written;
    for (std::int64_t i = 0; i < part; ++i) to[i] = 0.5F * from[i];
    done += part;
  }
}

}  // namespace

std::int64_t looked_up_row(std::int64_t position, std::int64_t rows) {
  // Multiplicative hashing: the upper half of the product is spread evenly.
  const std::uint64_t mixed = static_cast<std::uint64_t>(position + 1) * 0x9e3779b97f4a7c15ULL;
  return static_cast<std::int64_t>((mixed >> 32U) % static_cast<std::uint64_t>(rows));
}

void run_gemm_pass(const GemmPass& pass, const float* inputs, float* outputs) {
  for (const ProductCall& call : pass.products) run_product(call, inputs, outputs);
  if (pass.lookup.scatter) {
    scatter_add(pass.lookup, inputs, outputs);
  } else {
    gather(pass.lookup, inputs, outputs);
  }
  sweep_memory(pass.sweep, inputs, outputs);
}

}  // namespace mergewise
