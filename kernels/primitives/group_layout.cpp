// SPDX-License-Identifier: Apache-2.0
#include "kernels/primitives/group_layout.hpp"

#include <algorithm>

namespace mergewise {

GroupLayout::GroupLayout(std::uint32_t first_id, const std::vector<std::size_t>& tensor_elements,
                         const std::vector<bool>& vectors)
    : begins_{0}, vector_begins_{0} {
  for (std::uint32_t i = 0; i < tensor_elements.size(); ++i) {
    const std::uint64_t count = tensor_elements[i];
    if (count == 0) continue;
    const std::uint64_t begin = begins_.back();
    for (std::uint64_t offset = 0; offset < count; offset += kChunk) {
      const auto size = static_cast<std::uint32_t>(std::min<std::uint64_t>(kChunk, count - offset));
      chunks_.push_back({begin + offset, offset, size, tensors()});
    }
    ids_.push_back(first_id + i);
    begins_.push_back(begin + count);
    const bool is_vector = !vectors.empty() && vectors.at(i);
    vector_begins_.push_back(vector_begins_.back() + (is_vector ? count : 0));
  }
  if (!ids_.empty()) first_id_ = ids_.front();
}

GroupView GroupLayout::pieces(std::uint64_t piece) const {
  const std::uint64_t full = elements() / piece;
  const std::uint64_t rest = elements() % piece;
  const auto chunks = [](std::uint64_t count) { return (count + kChunk - 1) / kChunk; };
  return {nullptr,
          nullptr,
          nullptr,
          elements(),
          full * chunks(piece) + chunks(rest),
          piece,
          first_id_,
          static_cast<std::uint32_t>(full + (rest != 0 ? 1 : 0))};
}

}  // namespace mergewise
