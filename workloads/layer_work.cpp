// SPDX-License-Identifier: Apache-2.0
// From a network's shapes to the products and bytes of a whole batch.
#include "workloads/layer_work.hpp"

#include "bench/core/error.hpp"

#include <fmt/format.h>

namespace mergewise {
namespace {

constexpr Bytes kElementBytes = 4;

double flops(const std::vector<Gemm>& gemms) {
  double sum = 0;
  for (const Gemm& gemm : gemms) {
    sum += 2.0 * static_cast<double>(gemm.m) * static_cast<double>(gemm.n) *
           static_cast<double>(gemm.k) * static_cast<double>(gemm.count);
  }
  return sum;
}

Gemm of_batch(Gemm gemm, std::int64_t batch) {
  (gemm.batch_in_count ? gemm.count : gemm.m) *= batch;
  gemm.batch_in_count = false;  // done: nobody may multiply again
  return gemm;
}

/// For C[M x N] = A[M x K] B[K x N]: dB = A^T dC, then dA = dC B^T. In a layer with weights B is
/// the weight, so a first layer needs only dB; in an attention both are activations.
void append_backward(const Gemm& forward, bool first, std::vector<Gemm>& backward) {
  backward.push_back({.m = forward.k, .n = forward.n, .k = forward.m, .count = forward.count});
  if (!first) {
    backward.push_back({.m = forward.m, .n = forward.k, .k = forward.n, .count = forward.count});
  }
}

struct Traffic {
  std::int64_t forward = 0;  // elements
  std::int64_t backward = 0;
};

/// Elements moved by a layer's passes over a batch. `activations` counts what its forward pass
/// reads and writes, `outputs` what it puts out, `parameters` what it uses of its own and shared
/// tensors.
Traffic traffic(const Layer& layer, std::int64_t activations, std::int64_t outputs,
                std::int64_t parameters) {
  switch (layer.kind) {
    case LayerKind::kConv:
    case LayerKind::kLinear: {
      // Each product reads two of x, dy, weight and writes the gradient of the third: as much as
      // the forward product.
      const std::int64_t product = activations + parameters;
      return {product, (layer.first ? 1 : 2) * product};
    }
    case LayerKind::kEmbedding:
      // Forward reads only the rows it needs. The gradient is dense: its zeros are written, then
      // each row of dy is read and added to a row of it, which is read and written.
      return {activations, 3 * outputs + parameters};
    case LayerKind::kAttention:
      return {activations, 2 * activations};
    case LayerKind::kNorm:
    case LayerKind::kActivation:
      // Wherever the forward pass reads x, the backward pass reads dy beside it.
      return {activations + parameters, 2 * activations - outputs + 2 * parameters};
    case LayerKind::kConcat:
      // Its parts have other readers too (DenseNet), or a module's input has several (Inception):
      // the gradients are not only copied but added up.
      return {activations, activations + outputs};
    case LayerKind::kPool:
    case LayerKind::kAdd:
    case LayerKind::kOther:
      break;
  }
  return {activations + parameters, activations + parameters};
}

}  // namespace

double LayerWork::forward_flops() const { return flops(forward); }

double LayerWork::backward_flops() const { return flops(backward); }

std::vector<LayerWork> layer_work(const Model& model, std::int64_t batch) {
  if (batch < 1 || batch > kMaxBatch) {
    throw InputError(
        fmt::format("model '{}': batch is {}, expected 1 to {}", model.name, batch, kMaxBatch));
  }
  std::vector<LayerWork> works;
  works.reserve(model.layers.size());
  for (const Layer& layer : model.layers) {
    LayerWork work;
    work.layer = layer.name;
    work.kind = layer.kind;
    work.input_gradient = !layer.first;
    work.input_elements = batch * layer.inputs;
    work.output_elements = batch * layer.outputs();
    if (layer.kind == LayerKind::kEmbedding && !layer.output.empty()) {
      work.row_elements = layer.output.back();
    }
    for (const Gemm& gemm : layer.gemms) {
      work.forward.push_back(of_batch(gemm, batch));
    }
    for (auto gemm = work.forward.rbegin(); gemm != work.forward.rend(); ++gemm) {
      append_backward(*gemm, layer.first, work.backward);
    }
    for (const std::vector<std::size_t>* indices : {&layer.tensors, &layer.shared}) {
      for (const std::size_t index : *indices) {
        work.parameters += model.tensors[index].elements();
      }
    }
    const Traffic moved =
        traffic(layer, batch * layer.activations, work.output_elements, work.parameters);
    work.forward_bytes = kElementBytes * moved.forward;
    work.backward_bytes = kElementBytes * moved.backward;
    works.push_back(std::move(work));
  }
  return works;
}

}  // namespace mergewise
