// SPDX-License-Identifier: Apache-2.0
// The host's stream: one thread that runs a bounded ring of tasks in order.
#pragma once

#include "bench/device/host/host_device.hpp"
#include "bench/device/host/host_event.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace mergewise {

/// Allocates on creation only. Every blocked thread sleeps (nothing spins: ranks share processors).
///
/// Enqueueing on a full ring blocks until half of it is free. That cannot deadlock: a wait refers
/// to a record made before it, so among all enqueued items the earliest unfinished one never waits
/// for a later one. The stream's own tasks could not make room for themselves, so they may neither
/// enqueue on their stream nor synchronize it: std::logic_error, whether the ring is full or not.
class ThreadStream final : public HostStream {
 public:
  static constexpr std::size_t kRingSize = 4096;

  /// `progress` counts this stream's records alone, and outlives it. `name`: at most 15 characters.
  ThreadStream(HostProgress& progress, std::string name);
  /// Runs what is queued, then ends the thread. A failure that no synchronize() threw is lost.
  ~ThreadStream() override;
  ThreadStream(const ThreadStream&) = delete;
  ThreadStream& operator=(const ThreadStream&) = delete;

  void record(Event& event) override;
  void wait(Event& event) override;
  void synchronize() override;
  void enqueue(HostTask task) override;

 private:
  struct Item {
    HostTask task;
    bool always = false;  // runs after a failure too: records and waits
  };

  void push(const Item& item);
  void run();
  void run_task(HostTask& task) noexcept;
  [[nodiscard]] std::size_t queued() const { return static_cast<std::size_t>(pushed_ - popped_); }
  void check_other_thread() const;

  HostProgress& progress_;
  const std::string name_;
  std::uint64_t marks_ = 0;  // of the enqueueing thread

  std::mutex mutex_;  // guards all below but the thread; the item being run belongs to the thread
  std::condition_variable work_;
  std::condition_variable room_;
  std::condition_variable idle_;
  std::vector<Item> ring_;
  std::uint64_t pushed_ = 0;
  std::uint64_t popped_ = 0;  // finished, not merely begun
  bool stopping_ = false;
  std::optional<std::string> failure_;

  std::thread thread_;  // last: it uses all the others
};

}  // namespace mergewise
