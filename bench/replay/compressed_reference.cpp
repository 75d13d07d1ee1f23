// SPDX-License-Identifier: Apache-2.0
#include "bench/replay/compressed_reference.hpp"

#include "bench/collective/half_sum.hpp"
#include "bench/core/error.hpp"
#include "bench/replay/gradients.hpp"
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
  received_.assign(message_.size() * (compressor_->summed_as() ? 1 : ranks), std::byte{0});
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
  if (const auto type = compressor_->summed_as()) {
    if (rank == 0) {
      std::copy(message_.begin(), message_.end(), received_.begin());
    } else {
      add_message(*type);
    }
    return;
  }
  const auto own = static_cast<std::size_t>(rank);
  if (compressor_->varies()) received_bytes_[own] = facts.bytes;
  const auto parts = static_cast<std::size_t>(compressor_->parts());
  const std::size_t bytes = message_.size() / parts;
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t to = part * (received_.size() / parts) + own * bytes;
    std::copy_n(message_.begin() + static_cast<std::ptrdiff_t>(part * bytes), bytes,
                received_.begin() + static_cast<std::ptrdiff_t>(to));
  }
}

void CompressedReference::add_message(DType dtype) {
  if (dtype == DType::kFloat32) {
    auto* const sums = reinterpret_cast<float*>(received_.data());
    const auto* const values = reinterpret_cast<const float*>(message_.data());
    for (std::size_t i = 0; i < received_.size() / sizeof(float); ++i) sums[i] += values[i];
    return;
  }
  auto* const sums = reinterpret_cast<std::uint16_t*>(received_.data());
  add_halves(dtype, sums, sums, reinterpret_cast<const std::uint16_t*>(message_.data()),
             received_.size() / sizeof(std::uint16_t));
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
