// SPDX-License-Identifier: Apache-2.0
// A network as shapes: layers with their tensors, multiply-accumulates and the order in which
// gradients become ready.
#pragma once

#include "bench/core/units.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mergewise {

enum class LayerKind {
  kConv,
  kLinear,
  kNorm,
  kEmbedding,
  kAttention,
  kActivation,
  kPool,
  kAdd,
  kConcat,
  kOther
};
[[nodiscard]] const char* name_of(LayerKind kind);                 ///< "conv", "linear", ...
[[nodiscard]] const std::vector<std::string>& layer_kind_names();  ///< by LayerKind

/// A learnable parameter, named and shaped as the framework names it. PyTorch's layout.
struct TensorSpec {
  std::string name;
  std::vector<std::int64_t> shape;
  [[nodiscard]] std::int64_t elements() const;  ///< 1 for []; 0 when a dimension is 0
};

/// `count` products C[M x N] = A[M x K] B[K x N], for one sample; M grows with the batch.
struct Gemm {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t count = 1;       ///< groups of a convolution, heads of an attention
  bool batch_in_count = false;  ///< the batch multiplies `count` (attention), not m
  [[nodiscard]] std::int64_t macs() const { return m * n * k * count; }
};

/// One module in forward order.
struct Layer {
  std::string name;  ///< the module's, e.g. "layer4.2.conv1"
  LayerKind kind = LayerKind::kOther;
  std::vector<std::size_t> tensors;  ///< indices into Model::tensors that this layer owns
  /// Tensors of earlier layers that this one uses too (a tied decoder's weight). Their gradient is
  /// complete only when their owner's is.
  std::vector<std::size_t> shared;
  std::vector<Gemm> gemms;  ///< forward products for one sample; empty for memory passes
  std::int64_t stride = 1;  ///< of a convolution, the larger of two; model files do not keep it
  std::int64_t macs = 0;    ///< what the reference counts: conv and linear only, one sample
  std::vector<std::int64_t> output;  ///< shape of what it puts out, one sample
  std::int64_t inputs = 0;           ///< elements of activations it reads, each once, one sample
  /// Traffic: elements that the forward pass reads (again, where it must) and writes, one sample.
  std::int64_t activations = 0;
  bool first = false;                          ///< reads the network's input: no gradient by input
  [[nodiscard]] std::int64_t outputs() const;  ///< elements of `output`
};

struct Model {
  std::string name;                       ///< "resnet50"
  std::vector<std::int64_t> input_shape;  ///< of one sample, batch left out: {3, 224, 224}, {128}
  std::vector<TensorSpec> tensors;        ///< in definition order
  std::vector<Layer> layers;              ///< in forward order
  /// Indices into tensors, in the order in which their gradients are complete: layers in reverse
  /// forward order; of one layer a linear one's bias before its weight, else the weight before the
  /// bias.
  std::vector<std::size_t> ready_order;
  [[nodiscard]] std::int64_t parameters(const Layer& layer) const;  ///< elements it owns
  [[nodiscard]] std::int64_t total_parameters() const;
  [[nodiscard]] std::int64_t total_macs() const;
};

/// What a builder may be told; 0 = the model's own default.
struct ModelArguments {
  std::int64_t image_size = 0;
  std::int64_t sequence_length = 0;
};

/// The ids of all built-in networks.
[[nodiscard]] std::vector<std::string> model_ids();
/// Throws InputError for an unknown id (with the nearest match) or an argument the network cannot
/// take (naming the layer that no longer fits).
[[nodiscard]] Model build_model(const std::string& id, const ModelArguments& arguments = {});

}  // namespace mergewise
