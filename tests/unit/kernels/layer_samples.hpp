// SPDX-License-Identifier: Apache-2.0
// Layers as the tests of gemm compute need them.
#pragma once

#include "workloads/builder.hpp"
#include "workloads/layer_work.hpp"

#include <string>
#include <vector>

namespace mergewise {

inline Gemm gemm(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t count = 1) {
  return {.m = m, .n = n, .k = k, .count = count};
}

/// 3 x 3 windows over 8 channels of 3000 positions: 9 times as many operands as activations.
inline LayerWork conv() {
  LayerWork work;
  work.layer = "conv1";
  work.kind = LayerKind::kConv;
  work.forward = {gemm(3000, 16, 72)};
  work.backward = {gemm(72, 16, 3000), gemm(3000, 72, 16)};
  work.input_elements = 3000 * 8;
  work.output_elements = 3000 * 16;
  work.parameters = 16 * 72;
  work.forward_bytes = 1'000'000;
  work.backward_bytes = 2'000'000;
  return work;
}

inline LayerWork linear(const std::string& name, std::int64_t batch) {
  LayerWork work;
  work.layer = name;
  work.kind = LayerKind::kLinear;
  work.forward = {gemm(batch, 32, 16)};
  work.backward = {gemm(16, 32, batch), gemm(batch, 16, 32)};
  work.input_elements = batch * 16;
  work.output_elements = batch * 32;
  work.parameters = 32 * 16;
  return work;
}

/// `elements` activations in and out; 0: nobody counted them.
inline LayerWork relu(Bytes bytes, std::int64_t elements = 0) {
  LayerWork work;
  work.layer = "relu";
  work.kind = LayerKind::kActivation;
  work.input_elements = elements;
  work.output_elements = elements;
  work.forward_bytes = bytes;
  work.backward_bytes = 2 * bytes;
  return work;
}

inline LayerWork embedding() {
  LayerWork work;
  work.layer = "embedding";
  work.kind = LayerKind::kEmbedding;
  work.row_elements = 64;
  work.parameters = 1000 * 64;
  work.input_elements = 24 * 64;
  work.output_elements = 24 * 64;
  work.forward_bytes = 2 * 24 * 64 * 4;
  work.backward_bytes = (3 * 24 * 64 + 1000 * 64) * 4;
  return work;
}

/// Layers of every kind as the networks' builder makes them: convolutions plain, grouped, strided,
/// of one pixel and with windows of more elements than there are activations; attention.
inline std::vector<LayerWork> layers_of_every_kind(std::int64_t batch) {
  Builder image("image", {4, 20, 20});
  Value x = image.conv2d("first", image.input(), 8, square(3, 1, 1));
  x = image.activation("relu", image.batch_norm("norm", x));
  x = image.conv2d("grouped", x, 16, square(3, 1, 1), {.groups = 4});
  x = image.concat("concat", {x, image.conv2d("pointwise", x, 8, square(1))});
  x = image.pool("pool", image.conv2d("strided", x, 12, square(1, 2)), square(3, 2));
  x = image.conv2d("wide", x, 8, square(9, 1, 4));
  static_cast<void>(image.linear("classifier", flatten(image.add("add", {x, x})), 10));
  std::vector<LayerWork> works = layer_work(image.build(), batch);

  Builder text("text", {12});
  const Value words = text.layer_norm("norm", text.embedding("words", text.input(), 100, 32));
  static_cast<void>(text.attention("attention", words, words, words, 4));
  const std::vector<LayerWork> more = layer_work(text.build(), batch);
  works.insert(works.end(), more.begin(), more.end());
  return works;
}

}  // namespace mergewise
