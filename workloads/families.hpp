// SPDX-License-Identifier: Apache-2.0
// The families of built-in networks; a family's members are arguments. registry.cpp lists them.
#pragma once

#include "workloads/model.hpp"

namespace mergewise {

/// torchvision's ResNet (He et al., arXiv 1512.03385; stride in the 3x3 convolution of a
/// bottleneck), 1000 classes. Depths 18, 34, 50, 101, 152.
[[nodiscard]] Model resnet(int depth, const ModelArguments& arguments);

/// torchvision's VGG without batch normalisation (Simonyan and Zisserman, arXiv 1409.1556), 1000
/// classes. Depths 11, 13, 16, 19.
[[nodiscard]] Model vgg(int depth, const ModelArguments& arguments);

/// torchvision's GoogLeNet with batch normalisation (Szegedy et al., arXiv 1409.4842), 1000
/// classes; the auxiliary heads as in training.
[[nodiscard]] Model googlenet(bool auxiliary_heads, const ModelArguments& arguments);

/// torchvision's Inception-v3 (Szegedy et al., arXiv 1512.00567), 1000 classes; the auxiliary head
/// as in training.
[[nodiscard]] Model inception_v3(bool auxiliary_head, const ModelArguments& arguments);

/// The Inception-v4 (Szegedy et al., arXiv 1602.07261) of MG-WFBP's authors, 1000 classes; no
/// dropout.
[[nodiscard]] Model inception_v4(const ModelArguments& arguments);

/// torchvision's DenseNet (Huang et al., arXiv 1608.06993), 1000 classes; no dropout, and
/// concatenations are kept, not computed again. Depths 121, 161, 169, 201.
[[nodiscard]] Model densenet(int depth, const ModelArguments& arguments);

/// A BERT's sizes (Devlin et al., arXiv 1810.04805); the vocabulary is the uncased one.
struct BertSize {
  const char* name;
  int layers;
  std::int64_t hidden;
  std::int64_t heads;
  std::int64_t intermediate;
};
inline constexpr BertSize kBertBase{"bert_base", 12, 768, 12, 3072};
inline constexpr BertSize kBertLarge{"bert_large", 24, 1024, 16, 4096};

/// Hugging Face's BertForPreTraining: the encoder and both pre-training heads; the decoder's weight
/// is the word embedding's.
[[nodiscard]] Model bert(const BertSize& size, const ModelArguments& arguments);

}  // namespace mergewise
