// SPDX-License-Identifier: Apache-2.0
// How the tensors of a merge group lie one after the other.
#pragma once

#include "kernels/primitives/host_device.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mergewise {

/// A piece of one tensor: what a block of threads works on.
struct Chunk {
  std::uint64_t begin = 0;   ///< its first element, counted from the group's first
  std::uint64_t offset = 0;  ///< the same, counted from the tensor's first: a multiple of kChunk
  std::uint32_t count = 0;   ///< of elements, 1 to kChunk
  std::uint32_t tensor = 0;  ///< counted from the group's first that has elements
};

/// Elements of a chunk at the most: a multiple of what one call of philox() draws.
inline constexpr std::uint32_t kChunk = 4096;

/// What a function on any device sees of a group: arrays in that device's memory, not owned.
struct GroupView {
  const std::uint64_t* begins;  ///< of each tensor, and the group's number of elements at the end
  const std::uint32_t* ids;     ///< of each tensor: its place among all of the network's
  const Chunk* chunks;
  std::uint64_t elements;
  std::uint64_t chunk_count;
  std::uint32_t tensors;
};

/// The tensor that an element belongs to, by bisection.
MERGEWISE_HD inline std::uint32_t tensor_of(const GroupView& group, std::uint64_t element) {
  std::uint32_t low = 0;
  std::uint32_t high = group.tensors;
  while (high - low > 1) {
    const std::uint32_t middle = low + (high - low) / 2;
    (group.begins[middle] <= element ? low : high) = middle;
  }
  return low;
}

/// Owns these arrays in the host's memory. Immutable.
class GroupLayout {
 public:
  /// The numbers of elements of the tensors first_id, first_id + 1, ... Empty ones are left out: no
  /// message says anything of them. A group of nothing is fine.
  GroupLayout(std::uint32_t first_id, const std::vector<std::size_t>& tensor_elements);

  [[nodiscard]] std::uint64_t elements() const { return begins_.back(); }
  [[nodiscard]] std::uint32_t tensors() const { return static_cast<std::uint32_t>(ids_.size()); }
  /// Valid as long as the layout.
  [[nodiscard]] GroupView view() const {
    return {begins_.data(), ids_.data(), chunks_.data(), elements(), chunks_.size(), tensors()};
  }

 private:
  std::vector<std::uint64_t> begins_;
  std::vector<std::uint32_t> ids_;
  std::vector<Chunk> chunks_;
};

}  // namespace mergewise
