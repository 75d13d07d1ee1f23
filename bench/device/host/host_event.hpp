// SPDX-License-Identifier: Apache-2.0
// Events of the host device. A record is a mark on its stream: waiting for an event is waiting
// until that stream has passed the mark, whatever becomes of the event meanwhile.
#pragma once

#include "bench/device/device.hpp"

#include <condition_variable>
#include <cstdint>
#include <limits>
#include <mutex>

namespace mergewise {

/// How many of its records a stream has reached: its n-th record is its mark n, from 1. The device
/// owns it, so that it outlives the stream. Thread-safe.
class HostProgress {
 public:
  /// By the stream's thread alone, with growing marks.
  void reach(std::uint64_t mark);
  /// Blocks the calling thread until the mark has been reached.
  void wait_for(std::uint64_t mark);

 private:
  static constexpr std::uint64_t kNobody = std::numeric_limits<std::uint64_t>::max();

  std::mutex mutex_;
  std::condition_variable wanted_reached_;
  std::uint64_t reached_ = 0;
  // The earliest mark somebody waits for: marks before it wake nobody.
  std::uint64_t wanted_ = kNobody;
};

/// A stream's n-th record; without a stream: reached from the start.
struct HostMark {
  HostProgress* progress = nullptr;
  std::uint64_t number = 0;

  /// Blocks the calling thread until the stream has passed the mark.
  void wait() const {
    if (progress != nullptr) progress->wait_for(number);
  }
  friend bool operator==(const HostMark&, const HostMark&) = default;
};

/// Remembers its latest record. Thread-safe.
class HostEvent final : public Event {
 public:
  void synchronize() override { latest().wait(); }
  /// Throws std::logic_error when the latest record has not been reached.
  [[nodiscard]] Stamp stamp() const override;

  [[nodiscard]] HostMark latest() const;
  /// When this mark was reached. Throws std::logic_error when it is not the latest record, or has
  /// not been reached.
  [[nodiscard]] Stamp stamp_of(HostMark mark) const;
  /// The event is recorded: from now on it stands for this mark. By the enqueueing thread.
  void record(HostMark mark);
  /// The mark's stream has come to it. Counts only while the mark is the latest. By the stream's
  /// thread, before it publishes the mark as reached.
  void reach(HostMark mark, Stamp stamp);

 private:
  mutable std::mutex mutex_;
  HostMark latest_;
  Stamp stamp_ = 0;
};

/// Throws std::logic_error unless the event was made by a host device.
[[nodiscard]] HostEvent& as_host(Event& event);

}  // namespace mergewise
