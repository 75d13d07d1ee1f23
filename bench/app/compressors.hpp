// SPDX-License-Identifier: Apache-2.0
// The compressors by what they can be used for today.
#pragma once

#include "bench/core/options.hpp"

#include <string>
#include <vector>

namespace mergewise {

/// Every compressor can be used in the model: by `plan`, `simulate` and `reproduce`.
struct CompressorEntry {
  std::string id;
  std::string summary;              ///< what is sent, by which collective, and by whom it is taken
  std::vector<OptionSpec> options;  ///< in a config
  bool replayed = false;            ///< by `run` too
};

/// Those of compressor_ids(), in that order.
[[nodiscard]] const std::vector<CompressorEntry>& compressors();

}  // namespace mergewise
