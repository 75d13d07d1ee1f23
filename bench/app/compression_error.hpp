// SPDX-License-Identifier: Apache-2.0
// How far what compressed messages say is from the mean of the gradients.
#pragma once

#include "bench/core/compressor_spec.hpp"
#include "bench/plan/merge_plan.hpp"
#include "bench/result/result.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace mergewise {

inline constexpr int kErrorRanks = 4;       ///< whose gradients are averaged
inline constexpr float kErrorScales = 100;  ///< between neighbouring layers
inline constexpr std::size_t kErrorElements = std::size_t{1} << 18;  ///< of all tensors, about

/// The compressor's mean against the exact one, under the groups of a plan, of one iteration with
/// empty memories. The gradients are synthetic and always the same: each element a normal number
/// that all ranks share and one of its own, every other layer's a hundredth. Tensors are cut so
/// that all together have about kErrorElements. Nothing for compressors whose ranks only vote, and
/// for tensors without elements. Takes some ten milliseconds; from any thread.
[[nodiscard]] std::optional<CompressionError> compression_error(
    const CompressorSpec& spec, const MergePlan& plan, const std::vector<ProfileTensor>& tensors);

}  // namespace mergewise
