// SPDX-License-Identifier: Apache-2.0
// Ranks in one process: each compresses its gradient, the collective is played, all decompress.
#pragma once

#include "bench/stats/random.hpp"
#include "kernels/compress/compressor.hpp"
#include "kernels/primitives/bytes.hpp"
#include "kernels/primitives/half.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace mergewise::test {

using Floats = std::vector<float>;
using Message = std::vector<std::byte>;
using Given = std::map<std::string, OptionValue>;

/// A compressor of the device that is tested: each defines it.
std::unique_ptr<Compressor> make_tested(const CompressorSpec& spec);

inline std::unique_ptr<Compressor> make(const std::string& id, const Given& given = {},
                                        std::uint64_t seed = 0) {
  return make_tested(compressor_spec(id, Options(given), seed));
}

/// About normal, each tensor of its own scale, a hundredfold apart.
inline Floats gradient_of(const std::vector<std::size_t>& sizes, std::uint64_t seed) {
  SplitMix64 random(seed);
  const auto unit = [&] { return static_cast<double>(random.next() >> 11) * 0x1p-53; };
  Floats values;
  float scale = 1;
  for (const std::size_t size : sizes) {
    for (std::size_t i = 0; i < size; ++i) {
      const double sum = unit() + unit() + unit() + unit() - 2;
      values.push_back(scale * static_cast<float>(sum));
    }
    scale = scale == 1 ? 0.01F : 1;
  }
  return values;
}

inline std::size_t total(const std::vector<std::size_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
}

/// One rank's message; `memory` as the compressor has it. Behind message and scratch stands a
/// guard. `facts` gets what the compressor says of it.
inline Message message_of(Compressor& compressor, const GroupLayout& group,
                          const CompressStep& step, const Floats& gradient, Floats& memory,
                          MessageFacts* facts = nullptr) {
  constexpr std::size_t kGuard = 16;
  constexpr std::byte kUntouched{0xA5};
  const std::size_t bytes = compressor.message_bytes(group);
  const std::size_t scratch_bytes = compressor.scratch_bytes(group);
  Message message(bytes + kGuard, kUntouched);
  std::vector<double> scratch((scratch_bytes + kGuard) / sizeof(double) + 1);
  const auto scratch_span = std::as_writable_bytes(std::span(scratch));
  std::fill(scratch_span.begin(), scratch_span.end(), kUntouched);
  MessageFacts said;
  compressor.compress(group, step, gradient, memory, std::span(message).first(bytes),
                      scratch_span.first(scratch_bytes), said);
  EXPECT_LE(said.bytes, bytes);
  if (!compressor.varies()) {
    EXPECT_EQ(said.bytes, bytes);
  }
  if (facts != nullptr) *facts = said;
  for (std::size_t i = bytes; i < message.size(); ++i) EXPECT_EQ(message[i], kUntouched);
  for (std::size_t i = scratch_bytes; i < scratch_span.size(); ++i) {
    EXPECT_EQ(scratch_span[i], kUntouched);
  }
  message.resize(said.bytes);
  return message;
}

/// As an all-reduce of the message's type adds up (halves are rounded after each addition).
inline Message sum_of(DType type, const std::vector<Message>& messages) {
  Message sum = messages.front();
  for (std::size_t rank = 1; rank < messages.size(); ++rank) {
    if (type == DType::kFloat32) {
      for (std::size_t i = 0; i < sum.size() / sizeof(float); ++i) {
        store(sum.data(), i, load<float>(sum.data(), i) + load<float>(messages[rank].data(), i));
      }
      continue;
    }
    const bool fp16 = type == DType::kFloat16;
    for (std::size_t i = 0; i < sum.size() / 2; ++i) {
      const auto value = [&](const Message& message) {
        const auto half = load<std::uint16_t>(message.data(), i);
        return float_of(fp16 ? bits_from_half(half) : bits_from_bfloat(half));
      };
      const std::uint32_t bits = bits_of(value(sum) + value(messages[rank]));
      store(sum.data(), i, fp16 ? half_from_bits(bits) : bfloat_from_bits(bits));
    }
  }
  return sum;
}

/// What the collective gives: the sum, or the messages at their places.
inline Message received_from(const Compressor& compressor, const GroupLayout& group,
                             const std::vector<Message>& messages) {
  if (const auto type = compressor.summed_as()) return sum_of(*type, messages);
  const std::size_t bytes = compressor.message_bytes(group);
  const auto parts = static_cast<std::size_t>(compressor.parts());
  Message received(bytes * messages.size(), std::byte{0xA5});
  for (std::size_t rank = 0; rank < messages.size(); ++rank) {
    const std::size_t size = parts == 1 ? messages[rank].size() : bytes / parts;
    const std::size_t apart = bytes / parts;
    for (std::size_t part = 0; part < parts && size > 0; ++part) {
      std::memcpy(received.data() + (part * messages.size() + rank) * apart,
                  messages[rank].data() + part * apart, size);
    }
  }
  return received;
}

/// What all ranks take for the mean.
inline Floats mean_of(const Compressor& compressor, const GroupLayout& group,
                      const CompressStep& step, const std::vector<Message>& messages) {
  std::vector<std::uint64_t> sizes;
  for (const Message& message : messages) sizes.push_back(message.size());
  if (!compressor.varies()) sizes.clear();
  Floats mean(group.elements(), -77.0F);
  compressor.decompress(group, step, received_from(compressor, group, messages), sizes, mean);
  return mean;
}

/// A single rank's message and what it decodes to.
struct Decoded {
  Message message;
  Floats mean;
};
inline Decoded alone(Compressor& compressor, const GroupLayout& group, const Floats& gradient,
                     Floats& memory, std::uint32_t iteration = 0) {
  const CompressStep step{.iteration = iteration, .rank = 0, .ranks = 1};
  Decoded decoded;
  decoded.message = message_of(compressor, group, step, gradient, memory);
  decoded.mean = mean_of(compressor, group, step, {decoded.message});
  return decoded;
}

inline Floats no_memory(const Compressor& compressor, const GroupLayout& group) {
  return Floats(compressor.memory_floats() * group.elements(), 0.0F);
}

/// What a single rank's message decodes to, with an empty memory.
inline Floats decoded(const char* id, const Given& given, const std::vector<std::size_t>& sizes,
                      const Floats& gradient) {
  const auto compressor = make(id, given);
  const GroupLayout group(0, sizes);
  Floats memory = no_memory(*compressor, group);
  return alone(*compressor, group, gradient, memory).mean;
}

}  // namespace mergewise::test
