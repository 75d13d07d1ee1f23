// SPDX-License-Identifier: Apache-2.0
// Runs iterations of a merge plan: compute on one stream, collectives on the other, ordered by
// events as the time model says. Written once for every device and communicator.
#pragma once

#include "bench/collective/communicator.hpp"
#include "bench/device/device.hpp"
#include "bench/plan/merge_plan.hpp"
#include "bench/replay/group_compressor.hpp"
#include "bench/replay/span_recorder.hpp"
#include "kernels/compute/compute.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace mergewise {

/// Enqueues the collective, as Communicator has it: in place on `count` floats, of an all-gather
/// those of all ranks.
void enqueue(Collective collective, Communicator& communicator, float* data, std::size_t count,
             Stream& stream);

/// Where a group's gradients lie when they are sent.
enum class Buffers {
  kSlice,  ///< all gradients in one flat buffer in ready order: a group is a slice, merging copies
           ///< nothing
  kCopy,   ///< each tensor is copied into a merge buffer and back, as frameworks do that do not own
           ///< the gradients
};

/// What one optimizer step works on beside its gradients.
struct Iteration {
  /// Micro-batches: all but the last pass forward and backward without communication.
  int accumulation = 1;
  /// By tensor: the forward step (of Compute) that is the first to use it, for plans that send
  /// until the next forward pass. Empty: all are needed by the first step.
  std::vector<std::size_t> forward_step;
};

/// A plan made ready to run: element ranges and the events that order its groups. Made by
/// Replayer::prepare.
struct PreparedPlan {
  struct PreparedGroup {
    Group planned;
    std::size_t offset = 0;         ///< in elements of the flat buffer
    std::size_t count = 0;          ///< elements
    std::size_t forward_step = 0;   ///< that waits for it, where it is sent until then
    std::unique_ptr<Event> ready;   ///< to be sent
    std::unique_ptr<Event> done;    ///< arrived
    std::unique_ptr<Event> worked;  ///< the forward pass has got to it
  };
  std::string strategy;
  std::vector<PreparedGroup> groups;
  /// As many of them are sent behind the backward pass, the others until the next forward pass.
  std::size_t backward_groups = 0;
  bool holds = false;  ///< some of them until a time after the start of the backward pass
  std::size_t tensor_count = 0;
  std::unique_ptr<PlanMessages> messages{};  ///< where gradients are compressed
  [[nodiscard]] bool reaches_forward() const { return backward_groups < groups.size(); }
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
  /// With a compressor, a group is compressed behind its packing and decompressed before its
  /// unpacking; what ranks keep of their gradients stays from plan to plan until one is verified.
  Replayer(Device& device, Communicator& communicator, Compute& compute,
           const std::vector<Bytes>& tensor_bytes, Buffers buffers, GroupHook on_group,
           Iteration iteration = {}, Compression compression = {});
  ~Replayer();
  Replayer(const Replayer&) = delete;
  Replayer& operator=(const Replayer&) = delete;

  /// Replays what check_replayable() (bench/replay/replayable.hpp) lets pass, groups not before a
  /// time after the start of the backward pass where they say so. Throws UnsupportedError for any
  /// other plan.
  [[nodiscard]] PreparedPlan prepare(const MergePlan& plan) const;
  /// No communication at all: the compute alone.
  [[nodiscard]] PreparedPlan prepare_compute_alone() const;

  /// Runs iterations without a host stop between them. stamps gets iterations + 1 instants of the
  /// compute stream: the start, then the end of each. An iteration begins with a forward pass; that
  /// of a plan that sends until the next one lasts from one backward pass to the next, behind a
  /// forward pass that belongs to none. Once `stamps` has its capacity and this many
  /// iterations ran before, allocates nothing.
  void run(PreparedPlan& plan, int iterations, std::vector<Stamp>& stamps);
  /// The same with all stamps of every group recorded: the second pass, never used for headline
  /// times.
  [[nodiscard]] std::vector<IterationStamps> run_with_spans(PreparedPlan& plan, int iterations);
  /// Compute alone with an event after each forward step and each tensor.
  struct LayerTimes {
    Nanoseconds forward_ns = 0;                 ///< of the pass
    std::vector<Nanoseconds> forward_steps_ns;  ///< of each step
    std::vector<Nanoseconds> backward_ns;       ///< that ends with each tensor ready
  };
  [[nodiscard]] std::vector<LayerTimes> run_layers(int iterations);

  /// Fills this rank's known gradients, runs one iteration, and compares every element with the
  /// exact sum; with a compressor, from empty memories, every element of mean and memory with
  /// CompressedReference. Throws VerificationError naming strategy, group, tensor (by its index in
  /// ready order), element, what was found and expected, and the compressor. Leaves all gradients
  /// zero, so that timed iterations reduce zeros and never overflow; with a compressor nearly
  /// normal, since its work may depend on them, and the memories and what was counted empty.
  /// Returns what the iteration alone took.
  Nanoseconds verify(PreparedPlan& plan);

  [[nodiscard]] Stream& compute_stream() { return *compute_stream_; }
  [[nodiscard]] Stream& communication_stream() { return *communication_stream_; }
  /// Elements of all gradients.
  [[nodiscard]] std::size_t elements() const { return offsets_.back(); }
  [[nodiscard]] float* gradients();
  /// Where an iteration leaves what the optimizer would take: with a compressor the means, which
  /// are not written over the gradients; else the sums, which are.
  [[nodiscard]] float* results();
  /// What this rank's compressor keeps, as GroupCompressor::memory(); empty without one.
  [[nodiscard]] std::span<float> memory();
  /// Where the collectives read and write: the gradients, or with kCopy the merge buffer.
  [[nodiscard]] float* send_buffer();

 private:
  // An iteration that is being enqueued.
  struct Pass {
    PreparedPlan& plan;
    Event& backward_start;
    SpanRecorder* spans;  // null but in the span pass
  };
  void begin_block(PreparedPlan& plan, int iterations);
  void enqueue_iteration(const Pass& pass);
  void enqueue_forward(const Pass& pass);
  void enqueue_backward(const Pass& pass);
  void enqueue_communicating_backward(const Pass& pass);
  void enqueue_waiting_forward(const Pass& pass);
  void enqueue_collective(const Pass& pass, std::size_t index);
  void enqueue_arrival(const Pass& pass, std::size_t index);
  void synchronize();
  void open(const Pass& pass, Lane lane);
  void close(const Pass& pass, Activity activity, std::size_t index);
  void copy_tensors(const PreparedPlan::PreparedGroup& group, Buffer& from, Buffer& to);
  [[nodiscard]] std::size_t forward_step_of(const Group& group) const;
  void reset_gradients();
  [[nodiscard]] std::span<float> of_tensor(float* data, std::size_t tensor) const;
  void check_sums(const PreparedPlan& plan);
  void check_means(const PreparedPlan& plan, std::uint32_t iteration);
  void compare(const PreparedPlan& plan, std::size_t group, const char* what,
               std::span<const float> found, std::span<const float> expected, float tolerance,
               std::size_t floats);

  Device& device_;
  Communicator& communicator_;
  Compute& compute_;
  Buffers buffers_;
  GroupHook on_group_;
  Iteration iteration_;
  std::vector<std::size_t> offsets_;  // in elements, one longer than the tensors
  std::unique_ptr<Buffer> gradient_buffer_;
  std::unique_ptr<Buffer> merge_buffer_;  // only with kCopy
  // Only with a compressor: decompressed into the gradients, an iteration would compress what the
  // one before had left of them.
  std::unique_ptr<Buffer> mean_buffer_;
  std::unique_ptr<GroupCompressor> compressor_;
  std::uint32_t iterations_ = 0;  // compressed so far
  // Before the streams, which run what is queued, records too, when they are destroyed.
  std::unique_ptr<Event> start_;
  // One per iteration of the largest block so far.
  std::vector<std::unique_ptr<Event>> ends_;
  std::vector<std::unique_ptr<Event>> backward_starts_;
  std::unique_ptr<Stream> compute_stream_;
  std::unique_ptr<Stream> communication_stream_;
};

}  // namespace mergewise
