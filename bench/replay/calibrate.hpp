// SPDX-License-Identifier: Apache-2.0
// Measures what predictions are made from, on the ranks and devices that will be used.
#pragma once

#include "bench/collective/communicator.hpp"
#include "bench/collective/control_plane.hpp"
#include "bench/cost/wire.hpp"
#include "bench/device/device.hpp"
#include "bench/replay/measurement.hpp"
#include "bench/replay/replayer.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace mergewise {

/// Under which condition a collective is measured.
enum class CostVariant {
  kIsolated,      ///< each alone: before it a barrier, and nothing runs
  kBackToBack,    ///< several of one size without a stop
  kBesideCompute  ///< the same while a ComputeLoad occupies the compute stream
};
[[nodiscard]] const char* name_of(CostVariant variant);  ///< "isolated", ...
[[nodiscard]] const std::vector<std::string>& cost_variant_names();
/// Throws InputError with the valid names.
[[nodiscard]] CostVariant cost_variant_from(const std::string& name);

struct CalibrationSettings {
  /// Ascending, multiples of 4, > 0. Of an all-gather: what one rank contributes.
  std::vector<Bytes> sizes;
  std::vector<CostVariant> variants{CostVariant::kBackToBack};
  int rounds = 3;  ///< sizes and variants are interleaved in every round, in a new random order
  Nanoseconds time_per_point_ns = 3e8;  ///< per round: how often a size is repeated follows from it
  int most_repetitions = 20;
  /// Of everything; 0: no limit. Rank 0's counts for all. At most half of it, in equal parts for
  /// the variants, is for trying every size once, beside the one operation that each size is warmed
  /// up with; sizes for which it does not suffice are left out, the largest first. Expensive ones
  /// get fewer rounds.
  Nanoseconds budget_ns = 0;
  std::uint64_t seed = 1;
  std::function<bool()> stop_requested;
  /// Called before each measurement, on every rank; may be empty. Round -1: the trials that
  /// everything begins with, sizes ascending.
  std::function<void(Bytes bytes, CostVariant variant, int round)> observe;
};

/// Sizes from 1 KiB by factors of 4 up to `largest`, and `largest` itself: what an all-reduce of a
/// model can be asked for.
[[nodiscard]] std::vector<Bytes> calibration_sizes(Bytes largest);

/// Powers of two from 4 bytes to `largest` (rounded down to a multiple of 4) and `largest` itself;
/// beside them, up to a quarter of it, 3 * 4^k and 4 bytes more from 52 bytes on: odd sizes, which
/// are measured in memory that is 4 bytes off any alignment, as merged gradients may be.
[[nodiscard]] std::vector<Bytes> dense_calibration_sizes(Bytes largest);

struct MeasuredVariant {
  CostVariant variant;
  std::vector<CalibrationPoint> points;  ///< by increasing bytes; none where nothing was measured
  std::vector<Bytes> left_out{};         ///< sizes that the budget had no time for
};

/// Equal on all ranks.
struct MeasuredCosts {
  std::vector<MeasuredVariant> variants;  ///< as asked for
  bool stopped = false;                   ///< a stop was requested: what was measured is here
};

/// One collective under the settings' variants. A measurement is the mean of its repetitions, the
/// maximum over ranks; a point the median over the rounds (the trial where there was no time for
/// one), low and high the 95 % interval of that median (NaN with less than two rounds). Collective
/// over the control plane: all ranks call it with equal settings but stop_requested; those that
/// take no part pass null and follow.
[[nodiscard]] MeasuredCosts calibrate_collective(ControlPlane& control, Device* device,
                                                 Communicator* communicator, Collective collective,
                                                 const CalibrationSettings& settings);

/// Copies on the compute stream, as packing makes them; the same rules, back to back.
[[nodiscard]] MeasuredCosts calibrate_copy(ControlPlane& control, Device* device,
                                           CalibrationSettings settings);

struct CompressorCosts {
  MeasuredCosts compress;
  MeasuredCosts decompress;
};
/// A compressor on the compute stream, over sizes of the dense group: makes a message of nearly
/// normal gradients, and the mean from those of `ranks` ranks. A group is one tensor of more than
/// one dimension; each message is made as in a later iteration, behind any warm-up. As
/// calibrate_copy(), half of the budget for each of the two.
[[nodiscard]] CompressorCosts calibrate_compressor(ControlPlane& control, Device* device,
                                                   Compressor* compressor, int ranks,
                                                   CalibrationSettings settings);

/// Forward time, by step too, and backward time by tensor of the compute alone: medians over
/// iterations, means over ranks.
[[nodiscard]] Replayer::LayerTimes measure_layers(ControlPlane& control, Replayer* replayer,
                                                  int iterations);

}  // namespace mergewise
