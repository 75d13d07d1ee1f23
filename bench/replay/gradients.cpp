// SPDX-License-Identifier: Apache-2.0
#include "bench/replay/gradients.hpp"

#include "bench/stats/random.hpp"

#include <cmath>

namespace mergewise {
namespace {

// Ranks repeat with this period, which bounds the sums: 4096 ranks x (63 + 5 x 63) < 2^24.
constexpr int kRankPeriod = 64;

struct Pattern {
  int base;   // -63..63
  int slope;  // 1..5: what each rank adds
};

// The multipliers spread neighbouring elements and tensors; a swapped or shifted element shows.
Pattern pattern(std::size_t tensor, std::size_t element) {
  const auto mixed = static_cast<std::uint32_t>(element * 2654435761U + tensor * 2246822519U);
  return {static_cast<int>((mixed >> 16U) % 127U) - 63, static_cast<int>((mixed >> 9U) % 5U) + 1};
}

// Sum of (rank % kRankPeriod) over ranks 0..ranks-1.
int sum_of_ranks(int ranks) {
  const int whole = ranks / kRankPeriod;
  const int rest = ranks % kRankPeriod;
  return whole * (kRankPeriod * (kRankPeriod - 1) / 2) + rest * (rest - 1) / 2;
}

}  // namespace

float local_gradient(int rank, std::size_t tensor, std::size_t element) {
  const Pattern p = pattern(tensor, element);
  return static_cast<float>(p.base + p.slope * (rank % kRankPeriod));
}

float reduced_gradient(int ranks, std::size_t tensor, std::size_t element) {
  const Pattern p = pattern(tensor, element);
  return static_cast<float>(p.base * ranks + p.slope * sum_of_ranks(ranks));
}

void fill_gradient(std::span<float> values, int rank, std::size_t tensor) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = local_gradient(rank, tensor, i);
}

float small_gradient(int rank, std::size_t tensor, std::size_t element) {
  auto mixed = static_cast<std::uint32_t>(element * 2654435761U + tensor * 2246822519U +
                                          static_cast<std::size_t>(rank) * 3266489917U);
  // Ranks and tensors must not be shifts of one another.
  mixed = (mixed ^ (mixed >> 15U)) * 2246822519U;
  constexpr auto kValues = static_cast<std::uint32_t>(2 * kLargestSmallGradient + 1);
  return static_cast<float>((mixed >> 16U) % kValues) - kLargestSmallGradient;
}

void fill_small_gradient(std::span<float> values, int rank, std::size_t tensor) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = small_gradient(rank, tensor, i);
}

void fill_normal(std::span<float> values, std::uint64_t seed) {
  constexpr int kFields = 8;  // of 16 bits
  constexpr float kMean = kFields * 32767.5F;
  const float deviation = std::sqrt(static_cast<float>(kFields) / 12.0F) * 65536.0F;
  SplitMix64 random(seed);
  for (float& value : values) {
    std::uint32_t sum = 0;
    for (int word = 0; word < 2; ++word) {
      for (std::uint64_t bits = random.next(), field = 0; field < 4; ++field, bits >>= 16U) {
        sum += static_cast<std::uint32_t>(bits & 0xFFFFU);
      }
    }
    value = 0.01F * (static_cast<float>(sum) - kMean) / deviation;
  }
}

std::optional<GradientMismatch> find_mismatch(std::span<const float> values, int ranks,
                                              std::size_t tensor) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float expected = reduced_gradient(ranks, tensor, i);
    // Written so that NaN counts as a mismatch.
    if (!(values[i] == expected)) return GradientMismatch{i, values[i], expected};
  }
  return std::nullopt;
}

}  // namespace mergewise
