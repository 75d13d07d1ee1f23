// SPDX-License-Identifier: Apache-2.0
// The compressors on the host. What each sends, and by which collective: docs/compressors.md.
#pragma once

#include "kernels/primitives/group_layout.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace mergewise {

struct CompressorSpec {
  std::string id;
  double density = 0.001;  ///< of the sparse ones, in (0, 1]
  /// What a rank keeps for each element between iterations: "none", "residual" (what its messages
  /// did not say; Seide et al. 2014), "momentum"; "" takes the compressor's own default.
  std::string memory = "";
  std::uint64_t seed = 0;
};

/// When, and on which rank.
struct CompressStep {
  std::uint32_t iteration = 0;
  std::uint16_t rank = 0;
  std::uint32_t ranks = 1;
};

/// One compress() at a time; the rest from any thread. Nothing is allocated by a call (top-k grows
/// its scratch memory with the largest group). Elements that are infinite or no number count as 0
/// and leave nothing in the memory, but fp16 and bf16 send them as they are, topk infinities.
class HostCompressor {
 public:
  virtual ~HostCompressor() = default;

  /// The ids that make_host_compressor() takes.
  [[nodiscard]] static const std::vector<std::string>& ids();

  [[nodiscard]] const CompressorSpec& spec() const { return spec_; }
  /// Whether a rank keeps a float for each element.
  [[nodiscard]] bool has_memory() const { return spec_.memory != "none"; }
  /// The collective adds messages up (all-reduce); else all ranks get all of them (all-gather).
  [[nodiscard]] virtual bool summed() const = 0;
  /// Of one rank's message. The same on all ranks.
  [[nodiscard]] virtual std::uint64_t message_bytes(const GroupLayout& group) const = 0;
  [[nodiscard]] virtual std::uint64_t scratch_bytes(const GroupLayout& group) const = 0;

  /// Makes the message of the group's gradient. `memory`: a float for each element, as the last
  /// call left it (zeros at first), or empty without one; a tensor's part moves with the tensor
  /// when the groups change. message and scratch (aligned to 8 bytes) as large as said above.
  void compress(const GroupLayout& group, const CompressStep& step, std::span<const float> gradient,
                std::span<float> memory, std::span<std::byte> message,
                std::span<std::byte> scratch);
  /// From what the collective gave, the sum or all messages in the order of ranks, what all ranks
  /// take for the mean gradient.
  void decompress(const GroupLayout& group, const CompressStep& step,
                  std::span<const std::byte> received, std::span<float> mean) const;

 protected:
  explicit HostCompressor(CompressorSpec spec) : spec_(std::move(spec)) {}
  /// Of the sparse ones: k = min(n, max(1, floor(density n))), the product in double.
  [[nodiscard]] std::uint64_t selected(const GroupLayout& group) const;

 private:
  // The same, of spans whose sizes were checked.
  virtual void make_message(const GroupLayout& group, const CompressStep& step,
                            std::span<const float> gradient, std::span<float> memory,
                            std::span<std::byte> message, std::span<std::byte> scratch) = 0;
  virtual void make_mean(const GroupLayout& group, const CompressStep& step,
                         std::span<const std::byte> received, std::span<float> mean) const = 0;

  CompressorSpec spec_;
};

/// Throws InputError for an unknown id, a memory that it does not take, or a density outside
/// (0, 1].
[[nodiscard]] std::unique_ptr<HostCompressor> make_host_compressor(CompressorSpec spec);

}  // namespace mergewise
