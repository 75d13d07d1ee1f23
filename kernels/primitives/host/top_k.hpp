// SPDX-License-Identifier: Apache-2.0
// Exact selection of the k elements of largest magnitude, on the host.
#pragma once

#include "kernels/primitives/host/team.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace mergewise {

struct TopKCounts {
  std::int64_t selected = 0;  ///< min(k, elements that are not NaN)
  std::int64_t nans = 0;      ///< in the whole input
};

/// Whether 32 bits hold the indices of n elements: up to 2^31 - 1 elements they do.
[[nodiscard]] constexpr bool fits_int32_index(std::int64_t n) { return n <= 0x7fffffff; }

/// The range of the input that a team's member looks at. Ranges differ by one element at most.
struct Slice {
  std::int64_t begin = 0;
  std::int64_t count = 0;
};
[[nodiscard]] Slice slice_of(std::int64_t n, int parts, int part);

/// The indices at which top_k() looks first, to guess; none where it does not guess. For tests,
/// which make it guess wrong.
[[nodiscard]] std::vector<std::int64_t> top_k_sample(std::int64_t n, std::int64_t k);

/// The memory of top_k(), for Index std::int32_t or std::int64_t. Grows when a call needs more,
/// then calls for no more of it allocate nothing. One call at a time.
template <typename Index>
class TopKScratch {
 public:
  /// Grows to what top_k() needs for n elements, of which it selects k, in `parts` threads.
  void reserve(std::int64_t n, std::int64_t k, int parts);

  /// How much that is: for each part histograms of 512 KiB (32 KiB up to 2^18 elements) and, where
  /// k <= n/8, at most 2k + max(2^14, n/1024) candidates of 4 + sizeof(Index) bytes; for all of
  /// them a sample of at most 128 KiB.
  [[nodiscard]] static std::int64_t bytes(std::int64_t n, std::int64_t k, int parts);

 private:
  template <typename>
  friend class TopKSelection;

  struct Part {
    const float* values;
    const Index* indices;  // null: first, first + 1, ...
    std::int64_t first;
    std::int64_t count;
    std::int64_t above;  // elements above the threshold, as far as it is known
    std::int64_t ties;   // elements equal to it, as far as it is known
    std::int64_t begin;  // of its share of the output
    std::int64_t nans;
    bool complete;
  };

  std::vector<Part> parts_;
  std::vector<std::int32_t> sample_;
  std::vector<std::int64_t> bins_;        // for each part
  std::vector<float> candidate_values_;   // for each part
  std::vector<Index> candidate_indices_;  // for each part
};

/// Selects min(k, n) elements of `values` by magnitude, of equal ones those of lower index. +-Inf
/// come first; NaN is counted, never selected. Writes their indices, ascending, and their values to
/// the beginning of `indices` and `selected`, which must hold min(k, n) and overlap nothing.
///
/// The result is the same for any instruction set and any team. Throws InputError for a negative k,
/// too small an output, and an Index that does not hold n.
///
/// A sample bounds the threshold from below, one pass collects what is above the bound, and a radix
/// search among these (two or three histograms of the magnitude's bits) finds the threshold. Where
/// that cannot do, the radix search runs on the input itself. So the input is read once as a rule;
/// 3 times where k > n/8 or the sample tells of too many ties (say, an input of zeros); 4 times at
/// most, where the bound proves wrong. Up to 2^18 elements, which stay in a cache, it is once more,
/// and up to 2^14 always 4 times.
template <typename Index>
TopKCounts top_k(std::span<const float> values, std::int64_t k, std::span<Index> indices,
                 std::span<float> selected, TopKScratch<Index>& scratch, HostRun how = {});

}  // namespace mergewise
