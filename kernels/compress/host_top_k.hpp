// SPDX-License-Identifier: Apache-2.0
// Top-k on the host: the k elements of largest magnitude of the whole group, ties to the lower
// index. Aji, Heafield: Sparse Communication for Distributed Gradient Descent, EMNLP 2017.
#pragma once

#include "kernels/compress/host_compressor.hpp"
#include "kernels/primitives/host/top_k.hpp"

namespace mergewise {

/// A message is k indices (int32, ascending) and then k values; where fewer elements are numbers,
/// the last indices are -1. Infinities are sent first, NaN never is; neither stays in the residual.
/// The scratch memory of top_k() is the compressor's own: one call of compress() at a time.
class HostTopK : public HostCompressor {
 public:
  explicit HostTopK(CompressorSpec spec) : HostCompressor(std::move(spec)) {}

  [[nodiscard]] bool summed() const override { return false; }
  [[nodiscard]] std::uint64_t message_bytes(const GroupLayout& group) const override;
  [[nodiscard]] std::uint64_t scratch_bytes(const GroupLayout&) const override { return 0; }

 private:
  // Throws InputError for a group of more elements than an int32 counts.
  void make_message(const GroupLayout& group, const CompressStep& step,
                    std::span<const float> gradient, std::span<float> memory,
                    std::span<std::byte> message, std::span<std::byte> scratch) override;
  // Work for each element of a message, and one pass that clears the mean.
  void make_mean(const GroupLayout& group, const CompressStep& step,
                 std::span<const std::byte> received, std::span<float> mean) const override;

  TopKScratch<std::int32_t> scratch_;
};

}  // namespace mergewise
