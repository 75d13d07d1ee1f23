// SPDX-License-Identifier: Apache-2.0
// How the tensors of a merge group lie one after the other.
#pragma once

#include "kernels/primitives/host_device.hpp"
#include "kernels/primitives/philox.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace mergewise {

/// A piece of one tensor: what a block of threads works on.
struct Chunk {
  std::uint64_t begin = 0;   ///< its first element, counted from the group's first
  std::uint64_t offset = 0;  ///< of its first element among the draws of its key: a multiple of 8
  std::uint32_t count = 0;   ///< of elements, 1 to kChunk
  std::uint32_t tensor = 0;  ///< counted from the group's first that has elements
};

/// Elements of a chunk at the most: a multiple of what one call of philox() draws.
inline constexpr std::uint32_t kChunk = 4096;

/// What a function on any device sees of a group: arrays in that device's memory, not owned. Or,
/// where there are no arrays, the group's elements cut into pieces of equal size that stand for
/// tensors: `scale: group` is one piece, a bucket of QSGD is one.
struct GroupView {
  const std::uint64_t* begins;  ///< of each tensor, and the group's number of elements at the end
  const std::uint32_t* ids;     ///< of each tensor: its place among all of the network's
  const Chunk* chunks;
  std::uint64_t elements;
  std::uint64_t chunk_count;
  std::uint64_t piece;  ///< elements of a piece: a multiple of 8, or all; 0 where there are arrays
  std::uint32_t first_id;
  std::uint32_t tensors;
};

MERGEWISE_HD inline std::uint64_t begin_of(const GroupView& group, std::uint32_t tensor) {
  return group.piece == 0 ? group.begins[tensor] : tensor * group.piece;
}

MERGEWISE_HD inline std::uint64_t count_of(const GroupView& group, std::uint32_t tensor) {
  if (group.piece == 0) return group.begins[tensor + 1] - group.begins[tensor];
  const std::uint64_t left = group.elements - tensor * group.piece;
  return left < group.piece ? left : group.piece;
}

/// The same elements as one piece.
MERGEWISE_HD inline GroupView as_one_piece(const GroupView& group) {
  const std::uint64_t n = group.elements;
  return {
      nullptr,        nullptr,        nullptr,         n, n / kChunk + (n % kChunk != 0 ? 1U : 0U),
      n == 0 ? 1 : n, group.first_id, n == 0 ? 0U : 1U};
}

/// The chunk of this index, below chunk_count.
MERGEWISE_HD inline Chunk chunk_of(const GroupView& group, std::uint64_t index) {
  if (group.piece == 0) return group.chunks[index];
  const std::uint64_t of_piece = (group.piece - 1) / kChunk + 1;
  const auto tensor = static_cast<std::uint32_t>(index / of_piece);
  const std::uint64_t within = index % of_piece * kChunk;
  const std::uint64_t left = count_of(group, tensor) - within;
  const std::uint64_t begin = begin_of(group, tensor) + within;
  return {begin, begin, static_cast<std::uint32_t>(left < kChunk ? left : kChunk), tensor};
}

/// The key of a tensor's own draws.
MERGEWISE_HD inline DrawKey draw_key_of(const GroupView& group, DrawKey key, std::uint32_t tensor) {
  key.tensor = group.piece == 0 ? group.ids[tensor] : group.first_id;
  return key;
}

/// The tensor that an element belongs to, by bisection.
MERGEWISE_HD inline std::uint32_t tensor_of(const GroupView& group, std::uint64_t element) {
  if (group.piece != 0) return static_cast<std::uint32_t>(element / group.piece);
  std::uint32_t low = 0;
  std::uint32_t high = group.tensors;
  while (high - low > 1) {
    const std::uint32_t middle = low + (high - low) / 2;
    (group.begins[middle] <= element ? low : high) = middle;
  }
  return low;
}

/// What a layout consists of, in the host's memory.
struct GroupArrays {
  std::uint32_t first_id = 0;                   ///< of the first tensor that has elements
  std::vector<std::uint64_t> begins{0};         ///< as in GroupView
  std::vector<std::uint64_t> vector_begins{0};  ///< GroupLayout::vector_begins()
  std::vector<std::uint32_t> ids;
  std::vector<Chunk> chunks;
};

/// Owns these arrays; copies share them. Immutable.
class GroupLayout {
 public:
  /// The numbers of elements of the tensors first_id, first_id + 1, ... Empty ones are left out: no
  /// message says anything of them. A group of nothing is fine. `vectors`: which of them have one
  /// dimension (dgc sends those as they are); empty: none.
  GroupLayout(std::uint32_t first_id, const std::vector<std::size_t>& tensor_elements,
              const std::vector<bool>& vectors = {});

  [[nodiscard]] std::uint64_t elements() const { return arrays_->begins.back(); }
  [[nodiscard]] std::uint32_t tensors() const {
    return static_cast<std::uint32_t>(arrays_->ids.size());
  }
  /// Elements of tensors of one dimension.
  [[nodiscard]] std::uint64_t vector_elements() const { return arrays_->vector_begins.back(); }
  /// How many elements of vectors stand before each tensor, and all of them at the end: a tensor is
  /// a vector where this grows.
  [[nodiscard]] const std::uint64_t* vector_begins() const { return arrays_->vector_begins.data(); }
  /// Tells layouts apart, for those that keep something for each.
  [[nodiscard]] const std::shared_ptr<const GroupArrays>& arrays() const { return arrays_; }

  /// Valid as long as the layout.
  [[nodiscard]] GroupView view() const {
    return {arrays_->begins.data(), arrays_->ids.data(),
            arrays_->chunks.data(), elements(),
            arrays_->chunks.size(), 0,
            arrays_->first_id,      tensors()};
  }
  /// The same elements in pieces of `piece` > 0, a multiple of 8 or at least all of them.
  [[nodiscard]] GroupView pieces(std::uint64_t piece) const;

 private:
  std::shared_ptr<const GroupArrays> arrays_;
};

}  // namespace mergewise
