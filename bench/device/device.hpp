// SPDX-License-Identifier: Apache-2.0
// Streams, events and buffers with CUDA's ordering semantics; host/ implements them with threads
// and queues.
#pragma once

#include "bench/core/units.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace mergewise {

/// A point in a stream's order. Re-recording is allowed: a wait refers to the latest record() made
/// before the wait was enqueued (as cudaStreamWaitEvent does). Owned by the caller, who keeps it
/// until the streams that use it are idle.
class Event {
 public:
  virtual ~Event() = default;
  /// Blocks the calling thread until the latest record has been reached. Never-recorded events
  /// count as reached.
  virtual void synchronize() = 0;
  /// When the latest record was reached; call only after synchronize() or a stream's synchronize().
  /// Timed events only.
  [[nodiscard]] virtual Stamp stamp() const = 0;
};

/// An in-order queue of work. Enqueueing never blocks on the work itself (it may block while the
/// queue is full). One host thread enqueues at a time. After a task failed, later tasks are skipped
/// but events still complete, so that nothing waits forever; synchronize() then throws the first
/// failure (and goes on throwing it).
class Stream {
 public:
  virtual ~Stream() = default;
  virtual void record(Event& event) = 0;
  /// Later work of this stream starts only after the event's latest record so far.
  virtual void wait(Event& event) = 0;
  /// Blocks the calling thread until the queue is empty. Throws BackendError when a task failed.
  virtual void synchronize() = 0;
};

/// Device memory, aligned to 256 bytes, zeroed. Frees itself.
class Buffer {
 public:
  virtual ~Buffer() = default;
  [[nodiscard]] virtual std::byte* data() = 0;
  [[nodiscard]] virtual Bytes size() const = 0;
};

enum class StreamRole { kCompute, kCommunication };

/// Makes streams, events and buffers. Outlives all it made. Thread-safe.
class Device {
 public:
  virtual ~Device() = default;
  [[nodiscard]] virtual std::string id() const = 0;           ///< "cpu", "cuda"
  [[nodiscard]] virtual std::string description() const = 0;  ///< for people and results
  [[nodiscard]] virtual std::unique_ptr<Stream> create_stream(StreamRole role) = 0;
  [[nodiscard]] virtual std::unique_ptr<Event> create_event() = 0;
  /// Throws BackendError when there is not that much memory, naming the size.
  [[nodiscard]] virtual std::unique_ptr<Buffer> allocate(Bytes size) = 0;
  /// Later work of the stream starts not before `delay` (>= 0) after the latest record of `since`
  /// so far was reached. A never-recorded event holds nothing. The event must not be recorded again
  /// before the stream has passed (std::logic_error on the stream else, where that is noticed).
  virtual void hold(Stream& stream, Event& since, Nanoseconds delay) = 0;
  /// Copies on the stream. Both ranges stay valid until the stream passed it. No overlap.
  virtual void copy(Stream& stream, const std::byte* from, std::byte* to, Bytes size) = 0;
};

}  // namespace mergewise
