// SPDX-License-Identifier: Apache-2.0
#include "bench/replay/compressed_reference.hpp"

#include "bench/core/error.hpp"
#include "bench/replay/gradients.hpp"
#include "bench/replay/local_collective.hpp"
#include "kernels/compress/host_compressor.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace mergewise {
namespace {

// Bits of a half's mantissa, the hidden one included.
int precision_of(DType dtype) { return dtype == DType::kFloat16 ? 11 : 8; }

}  // namespace

CompressedReference::CompressedReference(const CompressorSpec& spec, std::uint32_t iteration,
                                         int rank, int ranks)
    : compressor_(make_host_compressor(spec)), iteration_(iteration), rank_(rank), ranks_(ranks) {}

CompressedReference::Expected CompressedReference::of(
    const GroupLayout& layout, std::size_t begin, const std::vector<std::size_t>& tensor_elements) {
  const std::size_t elements = layout.elements();
  const auto ranks = static_cast<std::size_t>(ranks_);
  gradient_.resize(elements);
  mean_.resize(elements);
  message_.resize(compressor_->message_bytes(layout));
  received_.assign(received_size(*compressor_, message_.size(), ranks_), std::byte{0});
  received_bytes_.assign(compressor_->varies() ? ranks : 0, 0);
  scratch_.resize(compressor_->scratch_bytes(layout) / sizeof(std::uint64_t) + 1);
  for (int rank = 0; rank < ranks_; ++rank) {
    std::size_t offset = 0;
    for (std::size_t i = 0; i < tensor_elements.size(); ++i) {
      fill_small_gradient(std::span(gradient_).subspan(offset, tensor_elements[i]), rank,
                          begin + i);
      offset += tensor_elements[i];
    }
    MERGEWISE_CHECK(offset == elements, "the layout is that of the tensors");
    take_message(layout, rank);
  }
  const CompressStep step{iteration_, static_cast<std::uint16_t>(rank_),
                          static_cast<std::uint32_t>(ranks_)};
  compressor_->decompress(layout, step, received_, received_bytes_, mean_);
  return {mean_, own_memory_, tolerance()};
}

// Compresses the gradient, and puts the message where the collective would.
void CompressedReference::take_message(const GroupLayout& layout, int rank) {
  const CompressStep step{iteration_, static_cast<std::uint16_t>(rank),
                          static_cast<std::uint32_t>(ranks_)};
  memory_.assign(compressor_->memory_floats() * gradient_.size(), 0.0F);
  MessageFacts facts;
  compressor_->compress(layout, step, gradient_, memory_, message_,
                        std::as_writable_bytes(std::span(scratch_)), facts);
  if (rank == rank_) std::swap(own_memory_, memory_);
  if (compressor_->varies()) received_bytes_[static_cast<std::size_t>(rank)] = facts.bytes;
  receive_message(*compressor_, message_, rank, received_);
}

float CompressedReference::tolerance() const {
  const auto type = compressor_->summed_as();
  if (!type || *type == DType::kFloat32) return 0;
  const int precision = precision_of(*type);
  const float largest = kLargestSmallGradient;
  // Multiples of 1 / P, the sums of their magnitudes at most `largest`.
  const bool exact = std::has_single_bit(static_cast<unsigned>(ranks_)) &&
                     largest * static_cast<float>(ranks_) <= std::ldexp(1.0F, precision);
  if (exact) return 0;
  // Both orders; and the P-th parts themselves were rounded, alike here and there.
  return 2 * static_cast<float>(ranks_ - 1) * std::ldexp(1.01F * largest, -precision);
}

std::size_t first_unexpected(std::span<const float> found, std::span<const float> expected,
                             float tolerance) {
  for (std::size_t i = 0; i < found.size(); ++i) {
    const bool equal = tolerance == 0 ? std::bit_cast<std::uint32_t>(found[i]) ==
                                            std::bit_cast<std::uint32_t>(expected[i])
                                      : std::fabs(found[i] - expected[i]) <= tolerance;
    if (!equal) return i;
  }
  return found.size();
}

}  // namespace mergewise
