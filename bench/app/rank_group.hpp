// SPDX-License-Identifier: Apache-2.0
// What the first P ranks share: their communicator, and what collectives cost on it.
#pragma once

#include "bench/collective/communicator.hpp"
#include "bench/collective/control_plane.hpp"
#include "bench/collective/emulated_link.hpp"
#include "bench/config/run_config.hpp"
#include "bench/cost/cluster.hpp"
#include "bench/replay/calibrate.hpp"
#include "bench/result/result.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mergewise {

struct RankGroup {
  int ranks = 1;
  std::unique_ptr<Communicator> gloo;  ///< null on ranks that take no part
  std::unique_ptr<EmulatedLink> link;  ///< null without an emulated link
  std::optional<double> link_gbps;     ///< what the slowest link states or emulates; if known
  CollectiveCosts costs;               ///< what was calibrated so far
  std::map<std::string, CompressorCost> compressors;  ///< by label_of(): so were these
  std::vector<Calibration> calibrations;              ///< how: one for each collective and variant

  /// What collectives go through; null on ranks that take no part.
  [[nodiscard]] Communicator* communicator() const;
};

/// Connects the first `ranks` ranks; all ranks of the control plane call it.
[[nodiscard]] RankGroup connect_group(ControlPlane& control, int ranks,
                                      const NetworkOptions& network,
                                      const std::optional<LinkModel>& link);

/// Measures a collective and keeps its costs. All ranks call it.
MeasuredCosts calibrate_group(RankGroup& group, ControlPlane& control, Device& device,
                              const CalibrationSettings& settings, Collective collective);

/// Measures what compressing and decompressing by this compressor costs, of messages of as many
/// ranks, and keeps it. All ranks call it.
CompressorCosts calibrate_group_compressor(RankGroup& group, ControlPlane& control, Device& device,
                                           const CalibrationSettings& settings,
                                           const ChoiceConfig& choice, std::uint64_t seed);

/// The measured points of a collective as its costs and records, as fit_cost() chooses: a line or
/// segments where they are good, else the points; replaces what was there. A variant that was
/// measured up to less than a sixteenth of what another one was is only recorded.
void keep_costs(RankGroup& group, Collective collective, const MeasuredCosts& measured);

}  // namespace mergewise
