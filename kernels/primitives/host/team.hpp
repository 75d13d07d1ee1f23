// SPDX-License-Identifier: Apache-2.0
// A few threads that share the loops of the host's primitives, and how such a loop is to run.
#pragma once

#include "kernels/primitives/host/isa.hpp"

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace mergewise {

/// Threads that wait, asleep, for work. They start with the team and end with it, so that running
/// allocates nothing.
class Team {
 public:
  /// The caller of run() is one of the threads. Throws InputError for fewer than one.
  explicit Team(int threads);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  Team(Team&&) = delete;
  Team& operator=(Team&&) = delete;

  [[nodiscard]] int size() const { return static_cast<int>(threads_.size()) + 1; }

  /// Calls body(part) once for every part in [0, size()), each on a thread of its own, part 0 on
  /// the caller's; returns when all are done, and what they wrote is then the caller's to read. The
  /// body must not throw. From one thread at a time, and not from within a body.
  template <typename Body>
  void run(Body& body) {
    start_and_wait([](void* object, int part) { (*static_cast<Body*>(object))(part); }, &body);
  }

 private:
  using Call = void (*)(void*, int);

  void start_and_wait(Call call, void* body);
  void work(int part);

  std::mutex mutex_;
  std::condition_variable started_;
  std::condition_variable finished_;
  Call call_ = nullptr;
  void* body_ = nullptr;
  std::uint64_t round_ = 0;  // counts the calls of run()
  int working_ = 0;
  bool ending_ = false;
  std::vector<std::thread> threads_;  // last: they use all the others
};

/// How a host primitive runs. The result does not depend on it.
struct HostRun {
  Isa isa = best_isa();
  Team* team = nullptr;  ///< null: on the caller's thread alone
};

}  // namespace mergewise
