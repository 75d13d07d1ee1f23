// SPDX-License-Identifier: Apache-2.0
// Runs iterations of a merge plan: compute on one stream, collectives on the other, ordered by
// events as the time model says. Written once for every device and communicator.
#pragma once

#include "bench/collective/communicator.hpp"
#include "bench/device/device.hpp"
#include "bench/plan/merge_plan.hpp"
#include "kernels/compute/compute.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace mergewise {

/// Where a group's gradients lie when they are sent.
enum class Buffers {
  kSlice,  ///< all gradients in one flat buffer in ready order: a group is a slice, merging copies
           ///< nothing
  kCopy,   ///< each tensor is copied into a merge buffer and back, as frameworks do that do not own
           ///< the gradients
};

/// The stamps of one group in one iteration, on this rank.
struct GroupStamps {
  Stamp backward_end = 0;  ///< the group's last tensor is ready
  Stamp ready = 0;         ///< packed
  Stamp begin = 0;         ///< its collective started
  Stamp end = 0;           ///< its collective ended
  Stamp unpack_begin = 0;  ///< the compute stream got to it after all backward work
  Stamp unpack_end = 0;
};

struct IterationStamps {
  Stamp begin = 0;
  Stamp forward_end = 0;
  Stamp end = 0;
  std::vector<GroupStamps> groups;
};

/// A plan made ready to run: element ranges and the events that order its groups. Made by
/// Replayer::prepare.
struct PreparedPlan {
  struct PreparedGroup {
    std::size_t begin_tensor = 0;
    std::size_t end_tensor = 0;
    std::size_t offset = 0;  ///< in elements of the flat buffer
    std::size_t count = 0;   ///< elements
    std::unique_ptr<Event> ready;
    std::unique_ptr<Event> done;
  };
  std::string strategy;
  std::vector<PreparedGroup> groups;
  std::size_t tensor_count = 0;
};

/// Owns the gradients and the two streams of one rank. Used by one thread. All ranks make the same
/// calls.
class Replayer {
 public:
  /// Called while enqueueing: before the communication stream waits for a group with that group,
  /// after the last group with -1, so that the caller can mark on that stream what is in flight or
  /// next. May be empty.
  using GroupHook = std::function<void(Stream& communication, std::int64_t group)>;

  /// `tensor_bytes` in ready order, fp32 (multiples of 4). The references must outlive this object.
  Replayer(Device& device, Communicator& communicator, Compute& compute,
           const std::vector<Bytes>& tensor_bytes, Buffers buffers, GroupHook on_group);
  ~Replayer();
  Replayer(const Replayer&) = delete;
  Replayer& operator=(const Replayer&) = delete;

  /// Throws UnsupportedError for a plan this engine cannot replay (other collectives or release
  /// conditions).
  [[nodiscard]] PreparedPlan prepare(const MergePlan& plan) const;
  /// No communication at all: the compute alone.
  [[nodiscard]] PreparedPlan prepare_compute_alone() const;

  /// Runs iterations without a host stop between them. stamps gets iterations + 1 instants of the
  /// compute stream: the start, then the end of each. Once `stamps` has its capacity and this many
  /// iterations ran before, allocates nothing.
  void run(PreparedPlan& plan, int iterations, std::vector<Stamp>& stamps);
  /// The same with all stamps of every group recorded: the second pass, never used for headline
  /// times.
  [[nodiscard]] std::vector<IterationStamps> run_with_spans(PreparedPlan& plan, int iterations);
  /// Compute alone with an event after each tensor: forward time, then the time that ends with each
  /// tensor ready.
  struct LayerTimes {
    Nanoseconds forward_ns = 0;
    std::vector<Nanoseconds> backward_ns;
  };
  [[nodiscard]] std::vector<LayerTimes> run_layers(int iterations);

  /// Fills this rank's known gradients, runs one iteration, and compares every element with the
  /// exact sum. Throws VerificationError naming strategy, group, tensor (by its index in ready
  /// order), element, what was found and expected. Leaves all gradients zero, so that timed
  /// iterations reduce zeros and never overflow.
  void verify(PreparedPlan& plan);

  [[nodiscard]] Stream& compute_stream() { return *compute_stream_; }
  [[nodiscard]] Stream& communication_stream() { return *communication_stream_; }
  /// Elements of all gradients.
  [[nodiscard]] std::size_t elements() const { return offsets_.back(); }
  [[nodiscard]] float* gradients();
  /// Where the collectives read and write: the gradients, or with kCopy the merge buffer.
  [[nodiscard]] float* send_buffer();

 private:
  struct SpanEvents;
  void enqueue_iteration(PreparedPlan& plan, SpanEvents* events);
  void enqueue_group(PreparedPlan::PreparedGroup& group, std::size_t index, SpanEvents* events);
  void enqueue_arrival(PreparedPlan::PreparedGroup& group, std::size_t index, SpanEvents* events);
  void copy_tensors(const PreparedPlan::PreparedGroup& group, Buffer& from, Buffer& to);
  void zero_gradients();

  Device& device_;
  Communicator& communicator_;
  Compute& compute_;
  Buffers buffers_;
  GroupHook on_group_;
  std::vector<std::size_t> offsets_;  // in elements, one longer than the tensors
  std::unique_ptr<Buffer> gradient_buffer_;
  std::unique_ptr<Buffer> merge_buffer_;  // only with kCopy
  std::unique_ptr<Stream> compute_stream_;
  std::unique_ptr<Stream> communication_stream_;
  std::unique_ptr<Event> start_;
  std::vector<std::unique_ptr<Event>> ends_;  // one per iteration of the largest block so far
};

}  // namespace mergewise
