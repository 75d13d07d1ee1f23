// SPDX-License-Identifier: Apache-2.0
// What one layer computes for a whole batch: matrix products and memory passes, forward and
// backward.
#pragma once

#include "workloads/model.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mergewise {

/// The largest batch that any file, option or function takes.
inline constexpr std::int64_t kMaxBatch = std::int64_t{1} << 20;

/// Products and bytes of one layer and batch. Backward products are the gradient by weight and
/// (unless the layer is the first) the gradient by input.
struct LayerWork {
  std::string layer;
  LayerKind kind = LayerKind::kOther;
  std::vector<Gemm> forward;  ///< whole batch: macs() is the batch's
  std::vector<Gemm> backward;
  bool input_gradient = true;        ///< false for a layer that reads the network's input
  std::int64_t input_elements = 0;   ///< activations it reads, each once, whole batch
  std::int64_t output_elements = 0;  ///< activations it puts out, whole batch
  std::int64_t row_elements = 0;     ///< of an embedding: the width of its table
  std::int64_t parameters = 0;       ///< elements of the tensors it uses, its own and shared ones
  Bytes forward_bytes = 0;           ///< memory traffic of activations and parameters, fp32
  Bytes backward_bytes = 0;
  [[nodiscard]] double forward_flops() const;  ///< 2 macs
  [[nodiscard]] double backward_flops() const;
};

/// In forward order, one per layer of the model. Throws InputError where the batch is not 1 to
/// kMaxBatch.
[[nodiscard]] std::vector<LayerWork> layer_work(const Model& model, std::int64_t batch);

}  // namespace mergewise
