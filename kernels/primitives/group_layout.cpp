// SPDX-License-Identifier: Apache-2.0
#include "kernels/primitives/group_layout.hpp"

#include <algorithm>

namespace mergewise {

GroupLayout::GroupLayout(std::uint32_t first_id, const std::vector<std::size_t>& tensor_elements)
    : begins_{0} {
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
  }
}

}  // namespace mergewise
