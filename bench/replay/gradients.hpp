// SPDX-License-Identifier: Apache-2.0
// Gradients whose reduced value is known exactly, so that a replay can be verified before it is
// timed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace mergewise {

/// What a rank fills into an element of a tensor: a small integer that differs between ranks,
/// tensors and elements. All partial sums over up to 4096 ranks are integers below 2^24, so fp32
/// adds them exactly in any order.
[[nodiscard]] float local_gradient(int rank, std::size_t tensor, std::size_t element);

/// The sum of local_gradient over ranks 0..ranks-1, in closed form.
[[nodiscard]] float reduced_gradient(int ranks, std::size_t tensor, std::size_t element);

/// Fills one tensor with this rank's values.
void fill_gradient(std::span<float> values, int rank, std::size_t tensor);

/// The same for compressed gradients: an integer from -7 to 7, so that halves of a P-th of it add
/// up exactly in any order, too, where P is a power of two up to 32 (bf16) or 256 (fp16).
inline constexpr float kLargestSmallGradient = 7;
[[nodiscard]] float small_gradient(int rank, std::size_t tensor, std::size_t element);
void fill_small_gradient(std::span<float> values, int rank, std::size_t tensor);

/// Nearly normal values (each the sum of eight uniform ones) of standard deviation 1/100, for what
/// is timed: the work of some compressors depends on the values.
void fill_normal(std::span<float> values, std::uint64_t seed);

struct GradientMismatch {
  std::size_t element = 0;
  float found = 0;
  float expected = 0;
};
/// The first element that is not the exact sum, if any (NaN is a mismatch).
[[nodiscard]] std::optional<GradientMismatch> find_mismatch(std::span<const float> values,
                                                            int ranks, std::size_t tensor);

}  // namespace mergewise
