// SPDX-License-Identifier: Apache-2.0
// How many bytes a group really puts on the wire under a compressor.
#pragma once

#include "bench/core/units.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace mergewise {

enum class Collective { kAllReduce, kAllGather, kReduceScatter };
[[nodiscard]] const char* name_of(Collective collective);  ///< "all_reduce", ...

/// The message of a compressor: which collective carries it and how large it is per rank.
struct WireFormat {
  std::string compressor = "none";
  double density = 0.001;
  Bytes element_bytes = 4;

  /// Throws InputError for an unknown compressor (with the valid ids) or a density outside (0, 1].
  void validate() const;
  [[nodiscard]] Collective collective() const;
  /// Bytes that one rank contributes for a group of `dense` bytes. none: dense; topk: 8 min(n,
  /// max(1, floor(density n))) for n > 0 elements, 0 for an empty group.
  [[nodiscard]] Bytes wire_bytes(Bytes dense) const;
};

/// The ids of all compressors this build knows.
[[nodiscard]] const std::vector<std::string>& compressor_ids();

}  // namespace mergewise
