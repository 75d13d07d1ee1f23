// SPDX-License-Identifier: Apache-2.0
// k elements at places that all ranks draw alike, so that no places are sent and the collective can
// add the messages up; or at places that each rank draws for itself and sends.
#pragma once

#include "bench/core/dtype.hpp"
#include "kernels/compress/sparse.hpp"
#include "kernels/primitives/finite.hpp"

#include <optional>

namespace mergewise {

/// Of the network below. Four are too few: of small groups some places come 9 % too often.
inline constexpr std::uint64_t kRounds = 8;

/// Where i goes in a permutation of 0 to n - 1 that belongs to the key: a Feistel network over the
/// next power of four, repeated until the result is below n (cycle walking: Black, Rogaway: Ciphers
/// with Arbitrary Finite Domains, CT-RSA 2002). n <= 2^62.
MERGEWISE_HD inline std::uint64_t permuted(std::uint64_t i, std::uint64_t n, const DrawKey& key) {
  unsigned half_bits = 1;
  while ((std::uint64_t{1} << (2 * half_bits)) < n) ++half_bits;
  const std::uint64_t mask = (std::uint64_t{1} << half_bits) - 1;
  do {
    std::uint64_t left = i >> half_bits;
    std::uint64_t right = i & mask;
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      const std::uint64_t mixed = left ^ (draw_block(key, round << 32 | right).word[0] & mask);
      left = right;
      right = mixed;
    }
    i = left << half_bits | right;
  } while (i >= n);
  return i;
}

/// kSent: each rank's own places, which it sends.
template <bool kSent>
struct RandomK {
  /// The stream that no rank's draws of elements have.
  static constexpr std::uint16_t kStream = 0xFFFF;

  static std::optional<DType> summed_as() {
    return kSent ? std::nullopt : std::optional(DType::kFloat32);
  }
  static std::uint64_t bytes(const GroupView& group, const CompressSettings& settings) {
    return (sizeof(float) + (kSent ? index_bytes(group.elements) : 0)) * settings.selected;
  }
  static std::uint64_t scratch_bytes(const GroupView&, const CompressSettings&) { return 0; }

  MERGEWISE_HD static DrawKey places(const GroupView& group, DrawKey key) {
    key.tensor = group.first_id;
    if (!kSent) key.stream = kStream;
    return key;
  }

  template <typename On>
  static void compress(const On& on, const CompressArguments& arguments) {
    const CompressArguments a = arguments;
    const std::uint64_t n = a.group.elements;
    const std::uint64_t k = a.settings.selected;
    if (n == 0) return;
    const DrawKey key = places(a.group, a.draws);
    const SparseEntries sent = entries_at(a.message, n, k);
    float* const memory = a.memory;
    if (memory != nullptr) {
      on.for_each_counted(
          n, Accumulated{a.gradient, memory},
          [=] MERGEWISE_HD_LAMBDA(std::uint64_t i, float x) { memory[i] = x; }, a.facts);
    }
    const float* const values = memory != nullptr ? memory : a.gradient;
    // Without a memory no other element is looked at, nor counted.
    on.for_each_counted(
        k, [=] MERGEWISE_HD_LAMBDA(std::uint64_t j) { return values[permuted(j, n, key)]; },
        [=] MERGEWISE_HD_LAMBDA(std::uint64_t j, float x) {
          const std::uint64_t place = permuted(j, n, key);
          if (kSent) {
            sent.set(j, static_cast<std::int64_t>(place), x);
          } else {
            store(a.message, j, x);
          }
          if (memory != nullptr) memory[place] = 0;
        },
        memory != nullptr ? nullptr : a.facts);
  }

  template <typename On>
  static void decompress(const On& on, const DecompressArguments& arguments) {
    if (arguments.group.elements == 0) return;
    if constexpr (kSent) {
      mean_of_entries(on, arguments);
    } else {
      const DecompressArguments a = arguments;
      const DrawKey key = places(a.group, a.draws);
      on.for_each(a.group.elements, [=] MERGEWISE_HD_LAMBDA(std::uint64_t i) { a.mean[i] = 0; });
      on.for_each(a.settings.selected, [=] MERGEWISE_HD_LAMBDA(std::uint64_t j) {
        const auto sum = load<float>(a.messages, j);
        a.mean[permuted(j, a.group.elements, key)] =
            a.factor * (sum / static_cast<float>(a.settings.ranks));
      });
    }
  }
};

}  // namespace mergewise
