// SPDX-License-Identifier: Apache-2.0
#include "bench/app/rank_group.hpp"

#include "bench/app/calibration_facts.hpp"
#include "bench/app/link_speed.hpp"
#include "bench/collective/gloo/gloo_communicator.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mergewise {
namespace {

// A variant that ends below this part of what another one reached says too little of large sizes,
// which plans are made of.
constexpr Bytes kShortOfReach = 16;

std::optional<CollectiveCost>& cost_of(CollectiveCosts& costs, Collective collective) {
  switch (collective) {
    case Collective::kAllGather:
      return costs.all_gather;
    case Collective::kReduceScatter:
      return costs.reduce_scatter;
    case Collective::kAllReduce:
      break;
  }
  return costs.all_reduce;
}

std::optional<CostModel>& variant_of(CollectiveCost& cost, CostVariant variant) {
  switch (variant) {
    case CostVariant::kIsolated:
      return cost.isolated;
    case CostVariant::kBackToBack:
      return cost.back_to_back;
    case CostVariant::kBesideCompute:
      break;
  }
  return cost.beside_compute;
}

// The largest size that any variant was measured with.
Bytes reach_of(const MeasuredCosts& measured) {
  Bytes reach = 0;
  for (const MeasuredVariant& variant : measured.variants) {
    if (!variant.points.empty()) reach = std::max(reach, variant.points.back().bytes);
  }
  return reach;
}

}  // namespace

Communicator* RankGroup::communicator() const {
  return link != nullptr ? static_cast<Communicator*>(link.get()) : gloo.get();
}

RankGroup connect_group(ControlPlane& control, int ranks, const NetworkOptions& network,
                        const std::optional<LinkModel>& link) {
  RankGroup group;
  group.ranks = ranks;
  group.gloo = make_gloo_communicator(control, ranks, network);
  group.link_gbps = slowest_link_gbps(control, ranks);
  if (link) {
    group.link = make_emulated_link(group.gloo.get(), control, *link);
    group.link_gbps = link->gbps;
  }
  return group;
}

MeasuredCosts calibrate_group(RankGroup& group, ControlPlane& control, Device& device,
                              const CalibrationSettings& settings, Collective collective) {
  Communicator* const communicator = group.communicator();
  MeasuredCosts measured = calibrate_collective(
      control, communicator != nullptr ? &device : nullptr, communicator, collective, settings);
  keep_costs(group, collective, measured);
  return measured;
}

void keep_costs(RankGroup& group, Collective collective, const MeasuredCosts& measured) {
  const std::string name = name_of(collective);
  std::erase_if(group.calibrations,
                [&](const Calibration& calibration) { return calibration.collective == name; });
  CollectiveCost cost;
  bool known = false;
  const Bytes reach = reach_of(measured);
  for (const MeasuredVariant& variant : measured.variants) {
    if (variant.points.empty()) continue;
    auto [calibration, model] =
        describe_calibration(collective, variant, group.ranks, group.link_gbps);
    const Bytes largest = variant.points.back().bytes;
    if (largest < reach / kShortOfReach) {
      calibration.used = "nothing";
      calibration.used_line = false;
      calibration.why = fmt::format("measured up to {} only, under another condition up to {}",
                                    human_bytes(largest), human_bytes(reach));
    } else {
      variant_of(cost, variant.variant) = std::move(model);
      known = true;
    }
    group.calibrations.push_back(std::move(calibration));
  }
  cost_of(group.costs, collective).reset();
  if (known) cost_of(group.costs, collective) = std::move(cost);
}

}  // namespace mergewise
