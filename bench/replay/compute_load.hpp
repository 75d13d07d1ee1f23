// SPDX-License-Identifier: Apache-2.0
// Real work that keeps a compute stream busy while something else is measured.
#pragma once

#include "bench/device/device.hpp"
#include "kernels/compute/compute.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <thread>

namespace mergewise {

/// Matrix products and a memory pass, over and over: what a network's layers do, in pieces of a few
/// milliseconds. Held times would be no load: they leave the processor and its memory alone. Host
/// only; used by one thread.
class ComputeLoad {
 public:
  /// Throws BackendError when there is no memory for it.
  explicit ComputeLoad(Device& device);
  ~ComputeLoad();  ///< stops
  ComputeLoad(const ComputeLoad&) = delete;
  ComputeLoad& operator=(const ComputeLoad&) = delete;

  /// Occupies a compute stream until stop(): returns when the first pass's turn has come there.
  /// Twice is once.
  void start();
  /// Returns when the stream is idle. Throws what failed on it or while passes were enqueued.
  void stop();
  /// For people: "products of 256 x 256 x 256 and passes over 16 MiB, 1 thread".
  [[nodiscard]] static std::string description();

 private:
  void enqueue_pass(std::size_t turn);
  void feed();

  std::unique_ptr<Compute> compute_;
  // Before the stream, which runs what is queued, these records too, when it is destroyed.
  std::unique_ptr<Event> begin_;
  std::array<std::unique_ptr<Event>, 2> ends_;
  std::unique_ptr<Stream> stream_;
  std::atomic<bool> running_{false};
  std::exception_ptr failure_;  // of the feeder, once it was joined
  std::thread feeder_;
};

}  // namespace mergewise
