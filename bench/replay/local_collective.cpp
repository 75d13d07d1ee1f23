// SPDX-License-Identifier: Apache-2.0
#include "bench/replay/local_collective.hpp"

#include "bench/collective/half_sum.hpp"

#include <algorithm>
#include <cstdint>

namespace mergewise {
namespace {

void add_message(DType dtype, std::span<const std::byte> message, std::span<std::byte> sum) {
  if (dtype == DType::kFloat32) {
    auto* const sums = reinterpret_cast<float*>(sum.data());
    const auto* const values = reinterpret_cast<const float*>(message.data());
    for (std::size_t i = 0; i < message.size() / sizeof(float); ++i) sums[i] += values[i];
    return;
  }
  auto* const sums = reinterpret_cast<std::uint16_t*>(sum.data());
  add_halves(dtype, sums, sums, reinterpret_cast<const std::uint16_t*>(message.data()),
             message.size() / sizeof(std::uint16_t));
}

}  // namespace

std::size_t received_size(const Compressor& compressor, std::size_t message_bytes, int ranks) {
  return message_bytes * (compressor.summed_as() ? 1 : static_cast<std::size_t>(ranks));
}

void receive_message(const Compressor& compressor, std::span<const std::byte> message, int rank,
                     std::span<std::byte> received) {
  if (const auto type = compressor.summed_as(); type && rank > 0) {
    add_message(*type, message, received);
    return;
  }
  const auto parts = static_cast<std::size_t>(compressor.parts());
  const std::size_t bytes = message.size() / parts;
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t to =
        part * (received.size() / parts) + static_cast<std::size_t>(rank) * bytes;
    std::copy_n(message.data() + part * bytes, bytes, received.data() + to);
  }
}

}  // namespace mergewise
