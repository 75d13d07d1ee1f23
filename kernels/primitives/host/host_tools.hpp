// SPDX-License-Identifier: Apache-2.0
// What the host's primitives are given, and the parts of them that are no hot loops. Included by
// sources that are compiled for several instruction sets: plain data and declarations only.
#pragma once

#include "kernels/primitives/message_facts.hpp"
#include "kernels/primitives/sparse_entries.hpp"

#include <cstdint>

namespace mergewise {

class Team;
struct HostScratch;

/// The most members of a team that share a loop; the others have nothing to do then.
inline constexpr int kMostParts = 64;

/// Not owned.
struct HostTools {
  Team* team;  ///< null: on the caller's thread alone
  int parts;   ///< its size, or kMostParts; 1 without one
  HostScratch* scratch;
};

/// Room for so many sums, as long as the scratch lives or until the next call. Grows.
[[nodiscard]] double* partial_sums(HostScratch& scratch, std::uint64_t count);

/// top_k() of kernels/primitives/README.md.
void select_top_k(HostScratch& scratch, const float* values, std::uint64_t n, std::uint64_t k,
                  const SparseEntries& entries, MessageFacts* facts, std::uint64_t* selected);

/// The `place`th largest (from 1) of `count` values, none of them NaN; changes their order.
[[nodiscard]] float select_largest(float* values, std::uint64_t count, std::uint64_t place);

}  // namespace mergewise
