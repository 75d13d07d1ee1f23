// SPDX-License-Identifier: Apache-2.0
// Codes of all elements, packed, and back. A thread owns eight elements side by side: whole bytes
// of the message, and mostly one block of draws. No library packs bits.
#pragma once

#include "kernels/primitives/codes.hpp"
#include "kernels/primitives/cuda/elements.cuh"
#include "kernels/primitives/philox.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace mergewise::cuda {

static_assert(kEight == kDrawsPerBlock);

/// Eight elements of a group, fewer at its end.
struct Eight {
  std::uint64_t first;
  std::uint32_t tensor;  ///< of the first one
  unsigned count;
  unsigned own;  ///< of them belong to that tensor

  __device__ Eight(const GroupView& group, std::uint64_t index)
      : first(kEight * index),
        tensor(tensor_of(group, first)),
        count(up_to_eight(group.elements - first)),
        own(up_to_eight(begin_of(group, tensor) + count_of(group, tensor) - first)) {}
  __device__ static unsigned up_to_eight(std::uint64_t n) {
    return n < kEight ? static_cast<unsigned>(n) : kEight;
  }
};

/// An element's place among the draws of its tensor's key: pieces share the group's.
__device__ inline std::uint64_t draw_offset(const GroupView& group, std::uint32_t tensor,
                                            std::uint64_t element) {
  return group.piece == 0 ? element - group.begins[tensor] : element;
}

/// The draws of eight elements of a tensor from one of any offset on: those of two blocks, moved by
/// what the offset is beyond the first one's beginning.
struct EightDraws {
  std::uint32_t words[kEight] = {};

  EightDraws() = default;
  __device__ EightDraws(const DrawKey& key, std::uint64_t offset) {
    const auto beyond = static_cast<unsigned>(offset % kEight);
    const PhiloxWords low = draw_block(key, offset / kEight);
    for (unsigned w = 0; w < 4; ++w) words[w] = low.word[w];
    if (beyond == 0) return;
    const PhiloxWords high = draw_block(key, offset / kEight + 1);
    for (unsigned w = 0; w < 4; ++w) words[4 + w] = high.word[w];
    // By four draws, two and one, so that all places are known to the compiler.
    if ((beyond & 4U) != 0) {
      for (unsigned w = 0; w < 6; ++w) words[w] = words[w + 2];
    }
    if ((beyond & 2U) != 0) {
      for (unsigned w = 0; w < 5; ++w) words[w] = words[w + 1];
    }
    if ((beyond & 1U) != 0) {
      for (unsigned w = 0; w < 4; ++w) words[w] = words[w] >> 16 | words[w + 1] << 16;
    }
  }
  __device__ std::uint32_t operator()(unsigned j) const {
    return words[j / 2] >> (16 * (j % 2)) & 0xFFFFU;
  }
};

/// What a source of two arrays (`gradient` and, unless null, `memory`) says of an eight's own
/// elements.
template <typename Source>
__device__ void source_eight(const Source& source, const Eight& eight, float (&x)[kEight]) {
  if (eight.own < kEight) {
    for (unsigned j = 0; j < kEight; ++j) x[j] = j < eight.own ? source(eight.first + j) : 0;
    return;
  }
  float gradient[kEight];
  read_eight(source.gradient + eight.first, gradient);
  Source here = source;
  here.gradient = gradient;
  // Apart, or the compiler would keep the arrays in memory to tell them from null.
  if (source.memory != nullptr) {
    float memory[kEight];
    read_eight(source.memory + eight.first, memory);
    here.memory = memory;
    for (unsigned j = 0; j < kEight; ++j) x[j] = here(j);
  } else {
    here.memory = nullptr;
    for (unsigned j = 0; j < kEight; ++j) x[j] = here(j);
  }
}

/// The codes of eight elements, kBits bytes of the message. Messages are aligned to 4.
template <unsigned kBits>
__device__ void write_codes(std::byte* codes, const Eight& eight, std::uint64_t word) {
  std::byte* const to = codes + eight.first / kEight * kBits;
  if (kBits == 8 && eight.count == kEight) {
    aligned_store(to, static_cast<std::uint32_t>(word));
    aligned_store(to + 4, static_cast<std::uint32_t>(word >> 32));
  } else if (kBits == 2 && eight.count == kEight) {
    aligned_store(to, static_cast<std::uint16_t>(word));
  } else {
    const auto bytes = static_cast<unsigned>(code_bytes<kBits>(eight.count));
    for (unsigned b = 0; b < bytes; ++b) to[b] = static_cast<std::byte>(word >> (8 * b) & 0xFFU);
  }
}

template <unsigned kBits>
__device__ std::uint64_t read_codes(const std::byte* codes, const Eight& eight) {
  const std::byte* const from = codes + eight.first / kEight * kBits;
  const auto bytes = static_cast<unsigned>(code_bytes<kBits>(eight.count));
  std::uint64_t word = 0;
  for (unsigned b = 0; b < kBits; ++b) {
    if (b < bytes) word |= static_cast<std::uint64_t>(from[b]) << (8 * b);
  }
  return word;
}

template <typename Code>
__device__ unsigned code_of(std::uint64_t word, unsigned j) {
  return static_cast<unsigned>(word >> (Code::kBits * j)) & ((1U << Code::kBits) - 1);
}

/// Reads the source once, writes codes and memory once.
template <typename Code, typename Source>
struct Encoder {
  GroupView group;
  DrawKey key;
  Source source;
  const std::byte* scales;
  std::byte* codes;
  float* memory;

  __device__ void operator()(std::uint64_t index, Counts& counts) const {
    const Eight eight(group, index);
    std::uint64_t word = own(eight, counts);
    // The others belong to tensors that begin here: few eights have any.
    std::uint32_t tensor = eight.tensor;
    for (unsigned j = eight.own; j < eight.count; ++j) {
      const std::uint64_t i = eight.first + j;
      while (i >= begin_of(group, tensor) + count_of(group, tensor)) ++tensor;
      const float x = counts.clean(source(i));
      const auto scale = Code::scale(scales, tensor);
      const std::uint32_t drawn =
          draws(x) ? draw(draw_key_of(group, key, tensor), draw_offset(group, tensor, i)) : 0;
      const unsigned code = Code::code(scale, x, drawn);
      word |= std::uint64_t{code} << (Code::kBits * j);
      if (memory != nullptr) memory[i] = Code::kept(x, Code::decoded(scale, code));
    }
    write_codes<Code::kBits>(codes, eight, word);
  }

 private:
  __device__ static bool draws(float x) {
    return Code::kDraws == Draws::kAll || (Code::kDraws == Draws::kOfZeros && x == 0);
  }

  __device__ std::uint64_t own(const Eight& eight, Counts& counts) const {
    float x[kEight];
    source_eight(source, eight, x);
    bool any = Code::kDraws == Draws::kAll;
    for (unsigned j = 0; j < kEight; ++j) {
      x[j] = counts.clean(x[j]);
      any = any || draws(x[j]);
    }
    const DrawKey own_key = draw_key_of(group, key, eight.tensor);
    const EightDraws drawn =
        any ? EightDraws(own_key, draw_offset(group, eight.tensor, eight.first)) : EightDraws{};
    const auto scale = Code::scale(scales, eight.tensor);
    std::uint64_t word = 0;
    for (unsigned j = 0; j < kEight; ++j) {
      const unsigned code = Code::code(scale, x[j], draws(x[j]) ? drawn(j) : 0);
      if (j < eight.own) word |= std::uint64_t{code} << (Code::kBits * j);
      x[j] = Code::kept(x[j], Code::decoded(scale, code));
    }
    if (memory != nullptr) write_eight(memory + eight.first, x, eight.own);
    return word;
  }
};

template <typename Code, typename Source>
__global__ void encode_kernel(Encoder<Code, Source> encoder, std::uint64_t eights,
                              MessageFacts* facts) {
  Counts counts;
  for (std::uint64_t e = grid_thread(); e < eights; e += grid_threads()) encoder(e, counts);
  add_counts(counts, facts);
}

/// Reads all ranks' codes once, writes the mean once.
template <typename Code>
struct MeanOfCodes {
  GroupView group;
  DrawKey key;
  const std::byte* messages;
  std::uint64_t stride;
  std::uint64_t scales_at;
  std::uint32_t ranks;
  float* mean;

  __device__ void operator()(std::uint64_t index) const {
    const Eight eight(group, index);
    float sums[kEight] = {};
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const std::byte* const message = messages + rank * stride;
      const std::uint64_t word = read_codes<Code::kBits>(message, eight);
      const auto scale = Code::scale(message + scales_at, eight.tensor);
      for (unsigned j = 0; j < kEight; ++j) sums[j] += Code::decoded(scale, code_of<Code>(word, j));
    }
    bool any = false;
    for (unsigned j = 0; j < kEight; ++j) any = any || draws(sums[j]);
    const DrawKey own_key = draw_key_of(group, key, eight.tensor);
    const EightDraws drawn =
        any ? EightDraws(own_key, draw_offset(group, eight.tensor, eight.first)) : EightDraws{};
    for (unsigned j = 0; j < kEight; ++j) {
      sums[j] = Code::mean(sums[j], ranks, draws(sums[j]) ? drawn(j) : 0);
    }
    write_eight(mean + eight.first, sums, eight.own);
    std::uint32_t tensor = eight.tensor;
    for (unsigned j = eight.own; j < eight.count; ++j) {
      const std::uint64_t i = eight.first + j;
      while (i >= begin_of(group, tensor) + count_of(group, tensor)) ++tensor;
      mean[i] = mean_of(i, tensor);
    }
  }

 private:
  __device__ static bool draws(float sum) { return Code::kDraws == Draws::kOfZeros && sum == 0; }

  __device__ float mean_of(std::uint64_t i, std::uint32_t tensor) const {
    float sum = 0;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const std::byte* const message = messages + rank * stride;
      sum +=
          Code::decoded(Code::scale(message + scales_at, tensor), code_at<Code::kBits>(message, i));
    }
    const std::uint64_t offset = draw_offset(group, tensor, i);
    return Code::mean(sum, ranks, draws(sum) ? draw(draw_key_of(group, key, tensor), offset) : 0);
  }
};

template <typename Code>
__global__ void mean_of_codes_kernel(MeanOfCodes<Code> mean, std::uint64_t eights) {
  for (std::uint64_t e = grid_thread(); e < eights; e += grid_threads()) mean(e);
}

}  // namespace mergewise::cuda
