// SPDX-License-Identifier: Apache-2.0
// Ranks in one process: each compresses its gradient, the collective is played, all decompress.
#pragma once

#include "bench/stats/random.hpp"
#include "kernels/compress/host_compressor.hpp"
#include "kernels/primitives/half.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

namespace mergewise::test {

using Floats = std::vector<float>;
using Message = std::vector<std::byte>;

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
/// guard.
inline Message message_of(HostCompressor& compressor, const GroupLayout& group,
                          const CompressStep& step, const Floats& gradient, Floats& memory) {
  constexpr std::size_t kGuard = 16;
  constexpr std::byte kUntouched{0xA5};
  const std::size_t bytes = compressor.message_bytes(group);
  const std::size_t scratch_bytes = compressor.scratch_bytes(group);
  Message message(bytes + kGuard, kUntouched);
  std::vector<double> scratch((scratch_bytes + kGuard) / sizeof(double) + 1);
  const auto scratch_span = std::as_writable_bytes(std::span(scratch));
  std::fill(scratch_span.begin(), scratch_span.end(), kUntouched);
  compressor.compress(group, step, gradient, memory, std::span(message).first(bytes),
                      scratch_span.first(scratch_bytes));
  for (std::size_t i = bytes; i < message.size(); ++i) EXPECT_EQ(message[i], kUntouched);
  for (std::size_t i = scratch_bytes; i < scratch_span.size(); ++i) {
    EXPECT_EQ(scratch_span[i], kUntouched);
  }
  message.resize(bytes);
  return message;
}

/// As an all-reduce of the message's type adds up (halves are rounded after each addition).
inline Message sum_of(const std::string& id, const std::vector<Message>& messages) {
  Message sum = messages.front();
  for (std::size_t rank = 1; rank < messages.size(); ++rank) {
    if (id == "randk") {
      for (std::size_t at = 0; at < sum.size(); at += sizeof(float)) {
        float a = 0;
        float b = 0;
        std::memcpy(&a, sum.data() + at, sizeof a);
        std::memcpy(&b, messages[rank].data() + at, sizeof b);
        a += b;
        std::memcpy(sum.data() + at, &a, sizeof a);
      }
      continue;
    }
    for (std::size_t at = 0; at < sum.size(); at += 2) {
      std::uint16_t a = 0;
      std::uint16_t b = 0;
      std::memcpy(&a, sum.data() + at, sizeof a);
      std::memcpy(&b, messages[rank].data() + at, sizeof b);
      const auto value = [&](std::uint16_t half) {
        return std::bit_cast<float>(id == "fp16" ? bits_from_half(half) : bits_from_bfloat(half));
      };
      const auto bits = std::bit_cast<std::uint32_t>(value(a) + value(b));
      a = id == "fp16" ? half_from_bits(bits) : bfloat_from_bits(bits);
      std::memcpy(sum.data() + at, &a, sizeof a);
    }
  }
  return sum;
}

/// What all ranks take for the mean.
inline Floats mean_of(const HostCompressor& compressor, const GroupLayout& group,
                      const CompressStep& step, const std::vector<Message>& messages) {
  Message received;
  if (compressor.summed()) {
    received = sum_of(compressor.spec().id, messages);
  } else {
    for (const Message& message : messages) {
      received.insert(received.end(), message.begin(), message.end());
    }
  }
  Floats mean(group.elements(), -77.0F);
  compressor.decompress(group, step, received, mean);
  return mean;
}

/// A single rank's message and what it decodes to.
struct Decoded {
  Message message;
  Floats mean;
};
inline Decoded alone(HostCompressor& compressor, const GroupLayout& group, const Floats& gradient,
                     Floats& memory, std::uint32_t iteration = 0) {
  const CompressStep step{.iteration = iteration, .rank = 0, .ranks = 1};
  Decoded decoded;
  decoded.message = message_of(compressor, group, step, gradient, memory);
  decoded.mean = mean_of(compressor, group, step, {decoded.message});
  return decoded;
}

inline Floats no_memory(const HostCompressor& compressor, const GroupLayout& group) {
  return Floats(compressor.has_memory() ? group.elements() : 0, 0.0F);
}

}  // namespace mergewise::test
