// SPDX-License-Identifier: Apache-2.0
// What a compressor says of a message it made.
#pragma once

#include <cstdint>

namespace mergewise {

/// In the memory of the device that made it.
struct MessageFacts {
  std::uint64_t bytes = 0;       ///< of it, at most Compressor::message_bytes()
  std::uint64_t nans = 0;        ///< elements that were no number, of the gradient and the memory
  std::uint64_t infinities = 0;  ///< that were infinite
};

}  // namespace mergewise
