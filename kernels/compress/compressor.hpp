// SPDX-License-Identifier: Apache-2.0
// A compressor on some device. What each sends, and by which collective: docs/compressors.md.
#pragma once

#include "bench/core/compressor_spec.hpp"
#include "bench/core/dtype.hpp"
#include "kernels/primitives/group_layout.hpp"
#include "kernels/primitives/message_facts.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

namespace mergewise {

/// When, and on which rank.
struct CompressStep {
  std::uint32_t iteration = 0;
  std::uint16_t rank = 0;
  std::uint32_t ranks = 1;
};

/// One compress() at a time; the rest from any thread, unless a host's team works for it: then one
/// call of any kind at a time. Nothing is allocated by a call, once the scratch memory that some
/// keep has grown with the largest group. Elements that are infinite or no number are counted (by
/// randk without a memory: of those it sends); they count as 0 and leave nothing in the memory, but
/// fp16 and bf16 send them as they are, topk infinities. What fp16 sends of an element beyond
/// 65504 P is infinite, and is not counted.
class Compressor {
 public:
  virtual ~Compressor() = default;

  [[nodiscard]] const CompressorSpec& spec() const { return spec_; }
  /// Floats that a rank keeps for each element between iterations, side by side: 0, 1, or 2.
  [[nodiscard]] std::size_t memory_floats() const;

  /// The collective adds messages up, numbers of this type (all-reduce); nothing: all ranks get all
  /// of them (all-gather).
  [[nodiscard]] virtual std::optional<DType> summed_as() const = 0;
  /// Messages may be smaller than message_bytes(), on each rank by another number of bytes
  /// (all-gather with counts).
  [[nodiscard]] virtual bool varies() const { return false; }
  /// A message is sent in this many equal parts, each by a collective of its own.
  [[nodiscard]] int parts() const { return spec_.messages; }
  /// Of one rank's message. The same on all ranks.
  [[nodiscard]] virtual std::uint64_t message_bytes(const GroupLayout& group) const = 0;
  [[nodiscard]] virtual std::uint64_t scratch_bytes(const GroupLayout& group) const = 0;

  /// Makes the message of the group's gradient. `memory`: memory_floats() for each element, as the
  /// last call left them (zeros at first); a tensor's part moves with the tensor when the groups
  /// change. message and scratch (aligned to 8 bytes) as large as said above.
  void compress(const GroupLayout& group, const CompressStep& step, std::span<const float> gradient,
                std::span<float> memory, std::span<std::byte> message, std::span<std::byte> scratch,
                MessageFacts& facts);
  /// From what the collective gave, what all ranks take for the mean gradient. `received`: the sum,
  /// or the messages in the order of ranks, message_bytes() apart; of messages in parts, all ranks'
  /// first parts, then their second ones. `bytes`: of each rank's message where they vary, else
  /// empty.
  void decompress(const GroupLayout& group, const CompressStep& step,
                  std::span<const std::byte> received, std::span<const std::uint64_t> bytes,
                  std::span<float> mean) const;

 protected:
  explicit Compressor(CompressorSpec spec) : spec_(std::move(spec)) {}
  /// Of the sparse ones: k = min(n, max(1, floor(density n))), the product in double; n counts what
  /// is not sent as it is.
  [[nodiscard]] std::uint64_t selected(const GroupLayout& group, double density) const;
  /// Falls from 1/4 to the spec's by equal factors over the iterations of the warm-up.
  [[nodiscard]] double density_at(std::uint32_t iteration) const;
  [[nodiscard]] double largest_density() const;

 private:
  // The same, of spans whose sizes were checked.
  virtual void make_message(const GroupLayout& group, const CompressStep& step,
                            std::span<const float> gradient, std::span<float> memory,
                            std::span<std::byte> message, std::span<std::byte> scratch,
                            MessageFacts& facts) = 0;
  virtual void make_mean(const GroupLayout& group, const CompressStep& step,
                         std::span<const std::byte> received, std::span<const std::uint64_t> bytes,
                         std::span<float> mean) const = 0;

  CompressorSpec spec_;
};

}  // namespace mergewise
