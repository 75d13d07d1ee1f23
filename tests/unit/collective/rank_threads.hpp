// SPDX-License-Identifier: Apache-2.0
// Many ranks as threads of one process, each with a control plane of its own; they meet in a
// temporary directory.
#pragma once

#include "bench/collective/control_plane.hpp"
#include "bench/collective/rank.hpp"
#include "tests/temporary_folder.hpp"

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace mergewise {

/// Long enough that no loaded machine reaches it: for tests in which nothing fails.
constexpr Nanoseconds kAmple = 120e9;

inline NetworkOptions on_loopback(Nanoseconds deadline_ns = kAmple) {
  return {"", "127.0.0.1", deadline_ns};
}

inline RankIdentity identity_of(int rank, int size) { return {rank, size, rank, "flags"}; }

/// Runs `body(rank)` in a thread per rank, waits for all, and rethrows the lowest rank's exception.
inline void run_threads(int ranks, const std::function<void(int)>& body) {
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        body(rank);
      } catch (...) {
        errors[static_cast<std::size_t>(rank)] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

/// The same, each with a control plane, which says goodbye when the body is through.
inline void run_ranks(int ranks, const std::function<void(ControlPlane&)>& body,
                      Nanoseconds deadline_ns = kAmple) {
  const TemporaryFolder directory;
  const Rendezvous rendezvous{Rendezvous::Kind::kFile, directory.path().string(), "", 0};
  run_threads(ranks, [&](int rank) {
    const auto control = ControlPlane::connect(identity_of(rank, ranks), rendezvous,
                                               on_loopback(deadline_ns), [](const std::string&) {});
    body(*control);
  });
}

}  // namespace mergewise
