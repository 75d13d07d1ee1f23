// SPDX-License-Identifier: Apache-2.0
// Random numbers that are a function of what they are for: Philox4x32-10 (Salmon, Moraes, Dror,
// Shaw: Parallel Random Numbers: As Easy as 1, 2, 3, SC 2011).
#pragma once

#include "kernels/primitives/host_device.hpp"

#include <cstddef>
#include <cstdint>

namespace mergewise {

/// Four words: a counter, or what comes out for it.
struct PhiloxWords {
  std::uint32_t word[4];
};

/// Philox4x32-10: ten rounds.
MERGEWISE_HD constexpr PhiloxWords philox(PhiloxWords counter, std::uint64_t key) {
  auto key0 = static_cast<std::uint32_t>(key);
  auto key1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53} * counter.word[0];
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57} * counter.word[2];
    counter = {{static_cast<std::uint32_t>(product1 >> 32) ^ counter.word[1] ^ key0,
                static_cast<std::uint32_t>(product1),
                static_cast<std::uint32_t>(product0 >> 32) ^ counter.word[3] ^ key1,
                static_cast<std::uint32_t>(product0)}};
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return counter;
}

/// What a sequence of draws belongs to. Equal keys give equal numbers on every rank and device, so
/// that a run repeats bit for bit and a coin falls alike everywhere.
struct DrawKey {
  std::uint64_t seed = 0;
  std::uint32_t iteration = 0;
  std::uint32_t tensor = 0;
  /// 0 for draws that all ranks share, 1 + rank for a rank's own.
  std::uint16_t stream = 0;
};

/// Draws of 16 bits that one call of philox() gives.
inline constexpr std::size_t kDrawsPerBlock = 8;

/// The draws of the elements 8 block to 8 block + 7, two to a word, the lower half first. Blocks
/// repeat after 2^48 of them.
MERGEWISE_HD constexpr PhiloxWords draw_block(const DrawKey& key, std::uint64_t block) {
  return philox({{static_cast<std::uint32_t>(block),
                  static_cast<std::uint32_t>((block >> 32) & 0xFFFF) |
                      static_cast<std::uint32_t>(key.stream) << 16,
                  key.tensor, key.iteration}},
                key.seed);
}

/// Draw number `place` (0 to 7) of a block.
MERGEWISE_HD constexpr std::uint32_t draw_of(const PhiloxWords& block, std::size_t place) {
  return (block.word[place / 2] >> (16 * (place % 2))) & 0xFFFF;
}

/// An element's draw, uniform in 0 to 65535.
MERGEWISE_HD constexpr std::uint32_t draw(const DrawKey& key, std::uint64_t element) {
  return draw_of(draw_block(key, element / kDrawsPerBlock), element % kDrawsPerBlock);
}

/// A draw as a number in (0, 1): the middle of its 65536th.
MERGEWISE_HD constexpr float unit_of(std::uint32_t draw) {
  return (static_cast<float>(draw) + 0.5F) * (1.0F / 65536.0F);
}

}  // namespace mergewise
