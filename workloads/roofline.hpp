// SPDX-License-Identifier: Apache-2.0
// Layer times from work and an accelerator's achieved rates, and what a published training takes by
// them.
#pragma once

#include "bench/core/units.hpp"
#include "workloads/layer_work.hpp"
#include "workloads/workload.hpp"

#include <vector>

namespace mergewise {

/// The kind under which an accelerator keeps what 3x3 and 5x5 convolutions of stride 1 achieve.
inline constexpr const char* kSquareConvolution = "conv_square";

/// Nanoseconds of each layer's passes over a batch, in forward order.
struct LayerTimes {
  std::vector<Nanoseconds> forward;
  std::vector<Nanoseconds> backward;
};
/// `works` are the model's layers for that batch.
[[nodiscard]] LayerTimes roofline(const Model& model, const std::vector<LayerWork>& works,
                                  const Accelerator& accelerator);

/// Forward and backward, unscaled, of the layers that took part in a published training of `model`,
/// at its batch.
[[nodiscard]] Nanoseconds compute_time(const PublishedThroughput& published, const Model& model,
                                       const Accelerator& accelerator);
/// What its optimizer's update took, once an iteration: memory passes at the default bandwidth.
[[nodiscard]] Nanoseconds update_time(const PublishedThroughput& published, const Model& model,
                                      const Accelerator& accelerator);

}  // namespace mergewise
