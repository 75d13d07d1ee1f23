// SPDX-License-Identifier: Apache-2.0
// k elements at places that all ranks draw alike, so that no places are sent and the collective can
// add the messages up.
#pragma once

#include "kernels/compress/arguments.hpp"

namespace mergewise {

/// Where i goes in a permutation of 0 to n - 1 that belongs to the key: a Feistel network of four
/// rounds over the next power of four, repeated until the result is below n (cycle walking: Black,
/// Rogaway: Ciphers with Arbitrary Finite Domains, CT-RSA 2002). n <= 2^62.
MERGEWISE_HD inline std::uint64_t permuted(std::uint64_t i, std::uint64_t n, const DrawKey& key) {
  unsigned half_bits = 1;
  while ((std::uint64_t{1} << (2 * half_bits)) < n) ++half_bits;
  const std::uint64_t mask = (std::uint64_t{1} << half_bits) - 1;
  do {
    std::uint64_t left = i >> half_bits;
    std::uint64_t right = i & mask;
    for (std::uint64_t round = 0; round < 4; ++round) {
      const std::uint64_t mixed = left ^ (draw_block(key, round << 32 | right).word[0] & mask);
      left = right;
      right = mixed;
    }
    i = left << half_bits | right;
  } while (i >= n);
  return i;
}

struct RandomK {
  /// The stream that no rank's draws of elements have.
  static constexpr std::uint16_t kStream = 0xFFFF;

  static constexpr bool kSummed = true;
  static std::uint64_t bytes(const GroupView&, std::uint64_t selected) {
    return sizeof(float) * selected;
  }
  static std::uint64_t scratch_bytes(const GroupView&) { return 0; }

  MERGEWISE_HD static DrawKey places(const GroupView& group, DrawKey key) {
    key.tensor = group.ids[0];
    key.stream = kStream;
    return key;
  }

  template <typename On>
  static void compress(const On& on, const CompressArguments& arguments) {
    const CompressArguments a = arguments;
    if (a.group.elements == 0) return;
    const DrawKey key = places(a.group, a.draws);
    const Accumulated value{a.gradient, a.memory};
    if (a.memory != nullptr) {
      on.for_each(a.group.elements, [=] MERGEWISE_HD(std::uint64_t i) { a.memory[i] = value(i); });
    }
    on.for_each(a.selected, [=] MERGEWISE_HD(std::uint64_t j) {
      const std::uint64_t place = permuted(j, a.group.elements, key);
      store(a.message, j,
            a.memory == nullptr ? finite_or_zero(a.gradient[place]) : a.memory[place]);
      if (a.memory != nullptr) a.memory[place] = 0;
    });
  }

  /// Of the sum.
  template <typename On>
  static void decompress(const On& on, const DecompressArguments& arguments) {
    const DecompressArguments a = arguments;
    if (a.group.elements == 0) return;
    const DrawKey key = places(a.group, a.draws);
    on.for_each(a.group.elements, [=] MERGEWISE_HD(std::uint64_t i) { a.mean[i] = 0; });
    on.for_each(a.selected, [=] MERGEWISE_HD(std::uint64_t j) {
      const auto sum = load<float>(a.messages, j);
      a.mean[permuted(j, a.group.elements, key)] = a.factor * (sum / static_cast<float>(a.ranks));
    });
  }
};

}  // namespace mergewise
