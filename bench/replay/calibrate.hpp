// SPDX-License-Identifier: Apache-2.0
// Measures what predictions are made from, on the ranks and devices that will be used.
#pragma once

#include "bench/collective/communicator.hpp"
#include "bench/collective/control_plane.hpp"
#include "bench/device/device.hpp"
#include "bench/replay/measurement.hpp"
#include "bench/replay/replayer.hpp"

#include <functional>
#include <string>
#include <vector>

namespace mergewise {

struct CalibrationSettings {
  std::vector<Bytes> sizes;             ///< multiples of 4, > 0
  int rounds = 3;                       ///< sizes are interleaved in every round
  Nanoseconds time_per_point_ns = 3e8;  ///< per round: how often a size is repeated follows from it
  int most_repetitions = 20;
  std::function<bool()> stop_requested;
};

/// Sizes from 1 KiB by factors of 4 up to `largest`, and `largest` itself: what an all-reduce of a
/// model can be asked for.
[[nodiscard]] std::vector<Bytes> calibration_sizes(Bytes largest);

/// The all-reduce back to back (several of one size without a stop), means over repetitions and
/// rounds of the maximum over ranks; low and high are the extremes of the rounds. Collective over
/// the control plane; ranks that take no part pass null and follow. Empty when a stop was
/// requested.
[[nodiscard]] std::vector<CalibrationPoint> calibrate_all_reduce(
    ControlPlane& control, Device* device, Communicator* communicator,
    const CalibrationSettings& settings);

/// Copies on the compute stream, as packing makes them; the same rules.
[[nodiscard]] std::vector<CalibrationPoint> calibrate_copy(ControlPlane& control, Device* device,
                                                           const CalibrationSettings& settings);

/// Forward time and backward time by tensor of the compute alone: medians over iterations, means
/// over ranks.
[[nodiscard]] Replayer::LayerTimes measure_layers(ControlPlane& control, Replayer* replayer,
                                                  int iterations);

}  // namespace mergewise
