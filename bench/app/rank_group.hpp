// SPDX-License-Identifier: Apache-2.0
// What the first P ranks share: their communicator, and what an all-reduce costs on it.
#pragma once

#include "bench/collective/communicator.hpp"
#include "bench/collective/control_plane.hpp"
#include "bench/collective/emulated_link.hpp"
#include "bench/cost/cluster.hpp"
#include "bench/replay/calibrate.hpp"
#include "bench/result/result.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace mergewise {

struct RankGroup {
  std::unique_ptr<Communicator> gloo;     ///< null on ranks that take no part
  std::unique_ptr<EmulatedLink> link;     ///< null without an emulated link
  CollectiveCosts costs;                  ///< what was calibrated so far
  std::vector<Calibration> calibrations;  ///< how each of them was measured

  /// What collectives go through; null on ranks that take no part.
  [[nodiscard]] Communicator* communicator() const;
};

/// Connects the first `ranks` ranks; all ranks of the control plane call it.
[[nodiscard]] RankGroup connect_group(ControlPlane& control, int ranks,
                                      const NetworkOptions& network,
                                      const std::optional<LinkModel>& link);

/// Measures the all-reduce of a group and keeps it: as a line when that is within 5 % of every
/// point, else the points. All ranks call it. False when a stop was requested.
[[nodiscard]] bool calibrate_group(RankGroup& group, ControlPlane& control, Device& device,
                                   const CalibrationSettings& settings);

}  // namespace mergewise
