// SPDX-License-Identifier: Apache-2.0
#include "kernels/primitives/group_layout.hpp"

#include <algorithm>
#include <utility>

namespace mergewise {

GroupLayout::GroupLayout(std::uint32_t first_id, const std::vector<std::size_t>& tensor_elements,
                         const std::vector<bool>& vectors) {
  auto arrays = std::make_shared<GroupArrays>();
  for (std::uint32_t i = 0; i < tensor_elements.size(); ++i) {
    const std::uint64_t count = tensor_elements[i];
    if (count == 0) continue;
    const std::uint64_t begin = arrays->begins.back();
    const auto tensor = static_cast<std::uint32_t>(arrays->ids.size());
    for (std::uint64_t offset = 0; offset < count; offset += kChunk) {
      const auto size = static_cast<std::uint32_t>(std::min<std::uint64_t>(kChunk, count - offset));
      arrays->chunks.push_back({begin + offset, offset, size, tensor});
    }
    arrays->ids.push_back(first_id + i);
    arrays->begins.push_back(begin + count);
    const bool is_vector = !vectors.empty() && vectors.at(i);
    arrays->vector_begins.push_back(arrays->vector_begins.back() + (is_vector ? count : 0));
  }
  if (!arrays->ids.empty()) arrays->first_id = arrays->ids.front();
  arrays_ = std::move(arrays);
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
          arrays_->first_id,
          static_cast<std::uint32_t>(full + (rest != 0 ? 1 : 0))};
}

}  // namespace mergewise
