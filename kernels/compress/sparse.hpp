// SPDX-License-Identifier: Apache-2.0
// Messages of a few elements: their indices in the group, and then their values.
#pragma once

#include "kernels/compress/arguments.hpp"
#include "kernels/primitives/sparse_entries.hpp"

namespace mergewise {

/// Room for `count` entries of a group of n elements, without gaps.
MERGEWISE_HD inline SparseEntries entries_at(std::byte* bytes, std::uint64_t n,
                                             std::uint64_t count) {
  return {bytes, bytes + index_bytes(n) * count, index_bytes(n)};
}

/// Adds up what the ranks' entries say. `entries(rank)` are `count` each; one without an index is
/// nothing. Rank after rank, so that all devices round alike, and work for each entry only, behind
/// one pass that clears the mean.
template <typename On, typename F>
void add_entries(const On& on, const DecompressArguments& arguments, std::uint64_t count,
                 const F& entries) {
  const DecompressArguments a = arguments;
  for (std::uint32_t rank = 0; rank < a.settings.ranks; ++rank) {
    on.for_each(count, [=] MERGEWISE_HD_LAMBDA(std::uint64_t j) {
      const SparseEntries own = entries(rank);
      const std::int64_t index = j < entries.count(rank) ? own.index(j) : kNoIndex;
      if (index == kNoIndex) return;
      // Divided one by one, or the division would need a pass over the whole gradient.
      a.mean[index] += a.factor * (own.value(j) / static_cast<float>(a.settings.ranks));
    });
  }
}

/// Where all ranks' messages of `count` entries each lie.
struct FullMessages {
  const std::byte* messages;
  std::uint64_t n;
  std::uint64_t entries;
  std::uint32_t ranks;
  int parts;

  MERGEWISE_HD std::uint64_t count(std::uint32_t) const { return entries; }
  MERGEWISE_HD SparseEntries operator()(std::uint32_t rank) const {
    // Entries are read here only.
    auto* const bytes = const_cast<std::byte*>(messages);
    const std::uint64_t indices = index_bytes(n) * entries;
    const std::uint64_t values = sizeof(float) * entries;
    if (parts == 1) return entries_at(bytes + rank * (indices + values), n, entries);
    return {bytes + rank * indices, bytes + ranks * indices + rank * values, index_bytes(n)};
  }
};

template <typename On>
void mean_of_entries(const On& on, const DecompressArguments& a) {
  float* const mean = a.mean;
  on.for_each(a.group.elements, [=] MERGEWISE_HD_LAMBDA(std::uint64_t i) { mean[i] = 0; });
  add_entries(on, a, a.settings.selected,
              FullMessages{a.messages, a.group.elements, a.settings.selected, a.settings.ranks,
                           a.settings.parts});
}

}  // namespace mergewise
