// SPDX-License-Identifier: Apache-2.0
// Starts collective_rank processes and reads what they say.
#pragma once

#include "bench/collective/socket.hpp"

#include <sys/types.h>

#include <string>
#include <vector>

namespace mergewise {

/// A running collective_rank. Killed and reaped at the end if nothing did before.
class RankProcess {
 public:
  RankProcess(int rank, int size, const std::string& rendezvous, double deadline_s,
              const std::string& mode);
  RankProcess(RankProcess&&) = default;
  RankProcess& operator=(RankProcess&&) = delete;
  ~RankProcess();

  void signal(int number) const;
  /// Blocks until it has said this line. False when it ended without.
  [[nodiscard]] bool says(const std::string& line);
  /// Blocks until it ends: its exit code, or minus the signal that killed it. The output stays.
  int wait();
  [[nodiscard]] const std::string& output() const { return output_; }

 private:
  bool read_more();

  struct Process {
    pid_t id = -1;
    Process() = default;
    Process(Process&& other) noexcept : id(std::exchange(other.id, -1)) {}
  };
  Process process_;
  detail::Descriptor input_;  ///< its standard input ends when this does
  detail::Descriptor from_;
  std::string output_;
};

}  // namespace mergewise
