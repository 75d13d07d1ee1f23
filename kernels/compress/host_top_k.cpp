// SPDX-License-Identifier: Apache-2.0
#include "kernels/compress/host_top_k.hpp"

#include "kernels/compress/arguments.hpp"

#include <algorithm>
#include <cmath>

namespace mergewise {
namespace {

constexpr std::int32_t kNothing = -1;

}  // namespace

std::uint64_t HostTopK::message_bytes(const GroupLayout& group) const {
  return (sizeof(std::int32_t) + sizeof(float)) * selected(group);
}

void HostTopK::make_message(const GroupLayout& group, const CompressStep&,
                            std::span<const float> gradient, std::span<float> memory,
                            std::span<std::byte> message, std::span<std::byte>) {
  const std::uint64_t k = selected(group);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] += gradient[i];
  const std::span<const float> values = has_memory() ? std::span<const float>(memory) : gradient;
  const std::span indices(reinterpret_cast<std::int32_t*>(message.data()), k);
  const std::span sent(reinterpret_cast<float*>(message.data()) + k, k);
  const TopKCounts counts = top_k(values, static_cast<std::int64_t>(k), indices, sent, scratch_);
  const auto count = static_cast<std::size_t>(counts.selected);
  std::fill(indices.begin() + counts.selected, indices.end(), kNothing);
  std::fill(sent.begin() + counts.selected, sent.end(), 0.0F);
  if (!has_memory()) return;
  for (const std::int32_t i : indices.first(count)) memory[static_cast<std::size_t>(i)] = 0;
  const bool infinite =
      std::any_of(sent.begin(), sent.end(), [](float x) { return std::isinf(x); });
  if (counts.nans == 0 && !infinite) return;
  for (float& kept : memory) kept = finite_or_zero(kept);
}

void HostTopK::make_mean(const GroupLayout& group, const CompressStep& step,
                         std::span<const std::byte> received, std::span<float> mean) const {
  const std::uint64_t k = selected(group);
  std::fill(mean.begin(), mean.end(), 0.0F);
  const auto ranks = static_cast<float>(step.ranks);
  for (std::uint32_t rank = 0; rank < step.ranks; ++rank) {
    const std::byte* const indices = received.data() + rank * message_bytes(group);
    const std::byte* const values = indices + k * sizeof(std::int32_t);
    for (std::uint64_t j = 0; j < k; ++j) {
      const auto index = load<std::int32_t>(indices, j);
      if (index == kNothing) break;
      // Divided one by one, or the division would need a pass over the whole gradient.
      mean[static_cast<std::size_t>(index)] += load<float>(values, j) / ranks;
    }
  }
}

}  // namespace mergewise
