// SPDX-License-Identifier: Apache-2.0
// The processor as a device: a stream is a thread with a bounded queue of small tasks.
#pragma once

#include "bench/device/device.hpp"

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

namespace mergewise {

/// A callable stored in place (no allocation): trivially copyable captures of at most kCapacity
/// bytes.
class HostTask {
 public:
  static constexpr std::size_t kCapacity = 64;

  HostTask() = default;
  template <typename F>
  requires(std::is_trivially_copyable_v<F> && sizeof(F) <= kCapacity && std::is_invocable_v<F&>)
      HostTask(F callable)  // NOLINT(google-explicit-constructor): any small callable is a task
      : invoke_([](void* storage) { (*std::launder(reinterpret_cast<F*>(storage)))(); }) {
    ::new (static_cast<void*>(storage_)) F(callable);
  }

  void operator()() { invoke_(storage_); }
  explicit operator bool() const { return invoke_ != nullptr; }

 private:
  void (*invoke_)(void*) = nullptr;
  alignas(std::max_align_t) std::byte storage_[kCapacity]{};
};

/// The host's stream: what the base class promises, and tasks of the caller's own. Destroying it
/// runs what is queued first. Only creation allocates.
class HostStream : public Stream {
 public:
  /// Runs the task on the stream's thread, in order. No allocation. What it throws fails the
  /// stream: synchronize() throws a BackendError with its message. A task must not use its own
  /// stream (std::logic_error), and keeps alive nothing it points to.
  virtual void enqueue(HostTask task) = 0;
};

/// Throws std::logic_error unless the stream was made by a host device.
[[nodiscard]] HostStream& as_host(Stream& stream);

/// The processor. Streams pin nothing; their threads are named for debuggers ("mw-compute",
/// "mw-comm").
[[nodiscard]] std::unique_ptr<Device> make_host_device();

/// `since` (>= 0) and `delay` (>= 0) later, or the last stamp there is.
[[nodiscard]] Stamp stamp_after(Stamp since, Nanoseconds delay);

/// Sleeps until the stamp on CLOCK_MONOTONIC with the smallest timer slack the kernel gives;
/// returns at once when past. Leaves the calling thread with that slack (1 ns instead of 50 us).
void sleep_until(Stamp deadline);

}  // namespace mergewise
