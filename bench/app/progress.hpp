// SPDX-License-Identifier: Apache-2.0
// The progress line on stderr: rewritten in place on a terminal, one line per phase elsewhere.
#pragma once

#include "bench/core/units.hpp"

#include <string>

namespace mergewise {

class Progress {
 public:
  /// Silent unless `enabled` (rank 0).
  explicit Progress(bool enabled);
  /// `where` changes seldom (case and phase), `detail` with every block (running medians).
  void show(const std::string& where, const std::string& detail, Nanoseconds time_left);
  /// Leaves the line, so that other output starts on a fresh one.
  void end_line();

 private:
  bool enabled_;
  bool terminal_;
  std::string last_where_;
  bool open_line_ = false;
};

}  // namespace mergewise
