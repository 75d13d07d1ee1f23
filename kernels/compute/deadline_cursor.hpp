// SPDX-License-Identifier: Apache-2.0
// The absolute deadlines of timed compute: the error of one sleep does not shift the next deadline.
#pragma once

#include "bench/core/units.hpp"

#include <cmath>

namespace mergewise {

/// Where timed compute is in model time. Not thread-safe: it belongs to the stream's thread.
class DeadlineCursor {
 public:
  /// Time goes on from here.
  void resume(Stamp at) {
    base_ = at;
    elapsed_ = 0;
  }
  /// Moves on by the duration; the stamp that it ends at. Fractions add up before they are rounded.
  [[nodiscard]] Stamp advance(Nanoseconds duration) {
    elapsed_ += duration;
    return base_ + static_cast<Stamp>(std::llround(elapsed_));
  }

 private:
  Stamp base_ = 0;
  Nanoseconds elapsed_ = 0;
};

}  // namespace mergewise
