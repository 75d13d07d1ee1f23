// SPDX-License-Identifier: Apache-2.0
// Some elements of an array: their indices and, apart from them, their values.
#pragma once

#include "kernels/primitives/bytes.hpp"
#include "kernels/primitives/host_device.hpp"

#include <cstddef>
#include <cstdint>

namespace mergewise {

inline constexpr std::int64_t kNoIndex = -1;

/// Of an index into n elements: that of an int32 where it counts them, else of an int64.
MERGEWISE_HD constexpr std::uint64_t index_bytes(std::uint64_t n) {
  return n <= 0x7FFFFFFF ? sizeof(std::int32_t) : sizeof(std::int64_t);
}

/// Not owned. Indices are signed, of the given size.
struct SparseEntries {
  std::byte* indices;
  std::byte* values;
  std::uint64_t index_size;

  MERGEWISE_HD std::int64_t index(std::uint64_t j) const {
    return index_size == sizeof(std::int32_t) ? load<std::int32_t>(indices, j)
                                              : load<std::int64_t>(indices, j);
  }
  MERGEWISE_HD float value(std::uint64_t j) const { return load<float>(values, j); }
  MERGEWISE_HD void set(std::uint64_t j, std::int64_t index, float value) const {
    if (index_size == sizeof(std::int32_t)) {
      store(indices, j, static_cast<std::int32_t>(index));
    } else {
      store(indices, j, index);
    }
    store(values, j, value);
  }
};

}  // namespace mergewise
