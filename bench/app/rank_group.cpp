// SPDX-License-Identifier: Apache-2.0
#include "bench/app/rank_group.hpp"

#include "bench/app/calibration_facts.hpp"
#include "bench/app/compressors.hpp"
#include "bench/app/link_speed.hpp"
#include "bench/collective/gloo/gloo_communicator.hpp"
#include "kernels/compress/host_compressor.hpp"

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

CompressorCosts calibrate_group_compressor(RankGroup& group, ControlPlane& control, Device& device,
                                           const CalibrationSettings& settings,
                                           const ChoiceConfig& choice, std::uint64_t seed) {
  const auto compressor = make_host_compressor(compressor_spec(choice.id, choice.options, seed));
  const bool takes_part = group.communicator() != nullptr;
  CompressorCosts measured =
      calibrate_compressor(control, takes_part ? &device : nullptr,
                           takes_part ? compressor.get() : nullptr, group.ranks, settings);
  const std::string label = label_of(choice);
  const MeasuredVariant& compress = measured.compress.variants.at(0);
  const MeasuredVariant& decompress = measured.decompress.variants.at(0);
  if (compress.points.empty() || decompress.points.empty()) return measured;
  CompressorCost& cost = group.compressors[label];
  const auto keep = [&](const char* what, const MeasuredVariant& variant, CostModel& model) {
    const std::string name = fmt::format("{} {}", what, label);
    std::erase_if(group.calibrations,
                  [&](const Calibration& known) { return known.collective == name; });
    auto [calibration, fitted] = describe_local(name, variant);
    group.calibrations.push_back(std::move(calibration));
    model = std::move(fitted);
  };
  keep("compress", compress, cost.compress);
  keep("decompress", decompress, cost.decompress);
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
