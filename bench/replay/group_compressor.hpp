// SPDX-License-Identifier: Apache-2.0
// Compressed gradients of merge groups on their way: the messages, what is kept of them between
// iterations, and their place on the streams.
#pragma once

#include "bench/collective/communicator.hpp"
#include "bench/device/device.hpp"
#include "bench/plan/merge_plan.hpp"
#include "bench/replay/measurement.hpp"
#include "kernels/compress/compressor.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace mergewise {

/// How gradients are compressed before they are sent.
struct Compression {
  Compressor* compressor = nullptr;  ///< outlives its users; null: gradients are sent as they are
  std::vector<bool> vectors{};       ///< by tensor: has one dimension. Empty: none has
};

/// One group's message. It stays where it is while streams use it.
struct GroupMessage {
  GroupLayout layout;
  std::size_t offset = 0;       ///< of the group's first element among those of all tensors
  std::size_t bytes = 0;        ///< of a message, at most
  std::size_t message_at = 0;   ///< in the buffer of messages
  std::size_t received_at = 0;  ///< in the buffer of what arrives
  MessageFacts facts{};
  bool arrived = false;                         ///< what was sent last: its collective did not fail
  std::vector<std::uint64_t> received_bytes{};  ///< of each rank's message, where they vary
  // Where all of it lies, as GroupCompressor::bind() last said.
  std::span<const float> gradient{};
  std::span<float> memory{};
  std::span<std::byte> message{};
  std::span<std::byte> scratch{};
  std::span<std::byte> received{};
  std::span<float> mean{};
};

/// Those of a plan.
struct PlanMessages {
  std::vector<GroupMessage> groups;
  /// Of this rank, since the plan was prepared or verified. Read it once the streams are idle.
  MessageTotals totals;
};

/// The memory lies by tensor, in ready order, so that it goes with the tensors from plan to plan.
/// Buffers are shared by all plans: one runs at a time. Used by one thread, host streams only.
class GroupCompressor {
 public:
  /// `offsets`: of each tensor's first element, and the number of all elements at the end.
  GroupCompressor(Device& device, Communicator& communicator, Compression compression,
                  const std::vector<std::size_t>& offsets);

  [[nodiscard]] Compressor& compressor() const { return *compression_.compressor; }

  /// While the streams are idle: makes room for the plan's messages.
  [[nodiscard]] std::unique_ptr<PlanMessages> prepare(const MergePlan& plan);
  /// While the streams are idle, before a block: gradients come from the one and their means go to
  /// the other flat buffer in ready order, which may be the same. Allocates nothing, nor do the
  /// next three, which enqueue a step of a group's way.
  void bind(PlanMessages& plan, const float* gradients, float* means);
  void compress(PlanMessages& plan, std::size_t group, std::uint32_t iteration, Stream& compute);
  void communicate(PlanMessages& plan, std::size_t group, Stream& communication);
  void decompress(PlanMessages& plan, std::size_t group, std::uint32_t iteration, Stream& compute);

  /// What this rank keeps between iterations: memory_floats() for each element, in ready order.
  [[nodiscard]] std::span<float> memory();

 private:
  [[nodiscard]] CompressStep step_of(std::uint32_t iteration) const;
  void grow(std::unique_ptr<Buffer>& buffer, std::size_t bytes);

  Device& device_;
  Communicator& communicator_;
  Compression compression_;
  std::vector<std::size_t> offsets_;
  std::unique_ptr<Buffer> memory_;
  std::unique_ptr<Buffer> messages_;
  std::unique_ptr<Buffer> received_;  // of the gathered ones: sums arrive in the message's place
  std::unique_ptr<Buffer> scratch_;
};

}  // namespace mergewise
