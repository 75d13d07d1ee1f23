// SPDX-License-Identifier: Apache-2.0
// How a failure ends this process: one thread saves, prints one message and exits.
#pragma once

#include "bench/app/result_book.hpp"
#include "bench/core/error.hpp"

#include <atomic>
#include <string>

namespace mergewise {

/// Ends the process without unwinding: a stream that waits for a dead peer could not be joined.
[[noreturn]] void end_process(ExitCode code);

/// Thread-safe. The book may be set later; only rank 0 has one.
class Ending {
 public:
  /// `local_launch`: the ranks share one stderr, where one message is enough; elsewhere every
  /// host's log gets it.
  Ending(int rank, bool local_launch) : rank_(rank), local_launch_(local_launch) {}

  void use_book(ResultBook* book) { book_ = book; }

  /// Saves the unfinished cases with the verdict as their reason, prints it, exits with code 3. A
  /// second caller waits for the first one's exit.
  [[noreturn]] void fail(const std::string& verdict);

  /// True when this rank is the one to print: rank 0, or rank 1 when rank 0 died or stalled.
  [[nodiscard]] bool speaks_about(const std::string& verdict) const;

 private:
  int rank_;
  bool local_launch_;
  std::atomic<ResultBook*> book_{nullptr};
  std::atomic<bool> ended_{false};
};

}  // namespace mergewise
