// SPDX-License-Identifier: Apache-2.0
// The primitives of compressors on the host, on the calling thread. Sums are added up in one fixed
// order, which a GPU's warps can follow too, so that both round alike.
#pragma once

#include "kernels/primitives/group_layout.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace mergewise {

/// Functions that are given run in any order, on any element, and touch nothing that another call
/// writes.
class HostPrimitives {
 public:
  /// f(i) for all 0 <= i < count.
  template <typename F>
  void for_each(std::uint64_t count, const F& f) const {
    for (std::uint64_t i = 0; i < count; ++i) f(i);
  }

  /// f(chunk) for each chunk of the group.
  template <typename F>
  void for_each_chunk(const GroupView& group, const F& f) const {
    for (std::uint64_t i = 0; i < group.chunk_count; ++i) f(group.chunks[i]);
  }

  /// totals[t] = the sum of value(i) over the elements of tensor t. `value` gives floats; a chunk
  /// is added up in floats by 32 lanes, chunks in doubles, one after the other.
  template <typename F>
  void sum_by_tensor(const GroupView& group, const F& value, double* totals) const {
    std::fill(totals, totals + group.tensors, 0.0);
    for (std::uint64_t i = 0; i < group.chunk_count; ++i) {
      totals[group.chunks[i].tensor] += static_cast<double>(sum_of(group.chunks[i], value));
    }
  }

  /// totals[t] = the largest of value(i, t) >= 0 over the elements i of tensor t.
  template <typename F>
  void max_by_tensor(const GroupView& group, const F& value, float* totals) const {
    std::fill(totals, totals + group.tensors, 0.0F);
    for (std::uint64_t i = 0; i < group.chunk_count; ++i) {
      const Chunk& chunk = group.chunks[i];
      float most = totals[chunk.tensor];
      for (std::uint64_t j = 0; j < chunk.count; ++j) {
        most = larger(most, value(chunk.begin + j, chunk.tensor));
      }
      totals[chunk.tensor] = most;
    }
  }

 private:
  static constexpr std::size_t kLanes = 32;  // of a warp

  // Lane l adds up elements l, l + 32, ...; then lanes are added to those half their distance off.
  template <typename F>
  static float sum_of(const Chunk& chunk, const F& value) {
    std::array<float, kLanes> lanes{};
    for (std::uint64_t j = 0; j < chunk.count; ++j) lanes[j % kLanes] += value(chunk.begin + j);
    for (std::size_t half = kLanes / 2; half > 0; half /= 2) {
      for (std::size_t l = 0; l < half; ++l) lanes[l] += lanes[l + half];
    }
    return lanes[0];
  }
};

}  // namespace mergewise
