// SPDX-License-Identifier: Apache-2.0
// BERT with its pre-training heads.
#include "bench/core/error.hpp"
#include "workloads/builder.hpp"
#include "workloads/families.hpp"

#include <fmt/format.h>

#include <string>

namespace mergewise {
namespace {

constexpr std::int64_t kVocabulary = 30522;
constexpr std::int64_t kPositions = 512;
constexpr std::int64_t kSegments = 2;
constexpr std::int64_t kDefaultLength = 128;

Value embeddings(Builder& net, std::int64_t hidden) {
  const auto scope = net.scope("bert.embeddings");
  const Value words = net.embedding("word_embeddings", net.input(), kVocabulary, hidden);
  const Value segments = net.embedding("token_type_embeddings", net.input(), kSegments, hidden);
  const Value positions = net.embedding("position_embeddings", net.input(), kPositions, hidden);
  net.define_before("bert.embeddings.position_embeddings", "bert.embeddings.token_type_embeddings");
  const Value sum = net.add("add", {words, segments, positions});
  return net.activation("dropout", net.layer_norm("LayerNorm", sum));
}

/// Projection, dropout, residual connection and normalisation: the end of both halves of a layer.
Value output_block(Builder& net, const Value& x, const Value& residual) {
  const auto scope = net.scope("output");
  const Value projected = net.activation("dropout", net.linear("dense", x, residual.shape.back()));
  return net.layer_norm("LayerNorm", net.add("add", {projected, residual}));
}

Value attention_half(Builder& net, const Value& x, const BertSize& size) {
  const auto scope = net.scope("attention");
  const Value query = net.linear("self.query", x, size.hidden);
  const Value key = net.linear("self.key", x, size.hidden);
  const Value value = net.linear("self.value", x, size.hidden);
  return output_block(net, net.attention("self", query, key, value, size.heads), x);
}

Value encoder_layer(Builder& net, const Value& x, const BertSize& size) {
  const Value attended = attention_half(net, x, size);
  const Value wide = net.linear("intermediate.dense", attended, size.intermediate);
  return output_block(net, net.activation("intermediate.intermediate_act_fn", wide), attended);
}

void pretraining_heads(Builder& net, const Value& sequence, const Value& pooled) {
  const auto scope = net.scope("cls");
  Value x = net.linear("predictions.transform.dense", sequence, sequence.shape.back());
  x = net.activation("predictions.transform.transform_act_fn", x);
  x = net.layer_norm("predictions.transform.LayerNorm", x);
  net.linear("predictions.decoder", x, kVocabulary,
             {.tied_weight = "bert.embeddings.word_embeddings.weight",
              .bias_name = "cls.predictions.bias"});
  net.define_before("cls.predictions.bias", "cls.predictions.transform");
  net.linear("seq_relationship", pooled, 2);
}

}  // namespace

Model bert(const BertSize& size, const ModelArguments& arguments) {
  const std::int64_t length = sequence_length_for(size.name, arguments, kDefaultLength);
  if (length > kPositions) {
    throw InputError(
        fmt::format("model '{}': layer 'bert.embeddings.position_embeddings' has {} positions, a "
                    "sequence_length of {} does not fit",
                    size.name, kPositions, length));
  }
  Builder net(size.name, {length});
  Value x = embeddings(net, size.hidden);
  for (int layer = 0; layer < size.layers; ++layer) {
    const auto scope = net.scope(fmt::format("bert.encoder.layer.{}", layer));
    x = encoder_layer(net, x, size);
  }
  const Value pooled = net.activation(
      "bert.pooler.activation", net.linear("bert.pooler.dense", first_position(x), size.hidden));
  pretraining_heads(net, x, pooled);
  return net.build();
}

}  // namespace mergewise
