// SPDX-License-Identifier: Apache-2.0
#include "bench/app/rank_group.hpp"

#include "bench/collective/gloo/gloo_communicator.hpp"

namespace mergewise {

constexpr double kLineIsGood = 0.05;  // largest relative error at any point

Communicator* RankGroup::communicator() const {
  return link != nullptr ? static_cast<Communicator*>(link.get()) : gloo.get();
}

RankGroup connect_group(ControlPlane& control, int ranks, const NetworkOptions& network,
                        const std::optional<LinkModel>& link) {
  RankGroup group;
  group.gloo = make_gloo_communicator(control, ranks, network);
  if (link) group.link = make_emulated_link(group.gloo.get(), control, *link);
  return group;
}

bool calibrate_group(RankGroup& group, ControlPlane& control, Device& device,
                     const CalibrationSettings& settings) {
  const bool member = group.communicator() != nullptr;
  Calibration calibration;
  calibration.collective = "all_reduce";
  calibration.variant = "back_to_back";
  calibration.points =
      calibrate_all_reduce(control, member ? &device : nullptr, group.communicator(), settings);
  if (calibration.points.empty()) return false;
  MeasuredCost table;
  for (const CalibrationPoint& point : calibration.points) {
    table.points.emplace_back(point.bytes, point.ns);
  }
  if (table.points.size() > 1) {
    calibration.fit = fit_line(table.points);
    calibration.used_line = calibration.fit.largest_error <= kLineIsGood;
  }
  CollectiveCost cost;
  cost.back_to_back = calibration.used_line ? CostModel(calibration.fit.line) : CostModel(table);
  group.costs.all_reduce = cost;
  group.calibrations = {calibration};
  return true;
}

}  // namespace mergewise
