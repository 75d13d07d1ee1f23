// SPDX-License-Identifier: Apache-2.0
// What a session measures before it plans: collectives, compressors and copies.
#include "bench/app/compressors.hpp"
#include "bench/app/session.hpp"
#include "bench/app/stop_signals.hpp"
#include "bench/core/error.hpp"
#include "bench/core/text.hpp"
#include "bench/replay/calibrate.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mergewise {

// Connected and calibrated once for all workloads.
bool Session::prepare_group(int ranks) {
  announce(fmt::format("connecting {}", counted(ranks, "rank")));
  RankGroup& group = groups_[ranks];
  group = connect_group(control_, ranks, network_, link_);
  Bytes largest = 0;
  for (const LoadedWorkload& workload : workloads_) {
    if (!workload.costs.all_reduce) largest = std::max(largest, workload.total_bytes());
  }
  return largest == 0 || calibrate(group, largest);
}

// One rank communicates nothing, but may compress.
bool Session::calibrate(RankGroup& group, Bytes largest) {
  const auto compressed =
      std::count_if(config_.compressors.begin(), config_.compressors.end(),
                    [](const ChoiceConfig& choice) { return choice.id != "none"; });
  const std::vector<Collective> wanted =
      group.ranks > 1 ? wanted_collectives() : std::vector<Collective>{};
  const std::size_t parts = wanted.size() + static_cast<std::size_t>(compressed);
  return calibrate_collectives(group, largest, wanted, parts) &&
         calibrate_compressors(group, largest, parts);
}

std::vector<Collective> Session::wanted_collectives() const {
  std::vector<Collective> wanted;
  for (const LoadedWorkload& loaded : workloads_) {
    if (loaded.costs.all_reduce) continue;
    for (const Collective collective :
         collectives_of(config_.strategies, config_.compressors, loaded.workload)) {
      if (std::find(wanted.begin(), wanted.end(), collective) == wanted.end()) {
        wanted.push_back(collective);
      }
    }
  }
  return wanted;
}

// What one rank contributes: a part of dense gradients, or a whole message.
Bytes Session::largest_gathered(int ranks, Bytes largest) const {
  constexpr Bytes kElement = sizeof(float);
  std::size_t tensors = 0;
  for (const LoadedWorkload& loaded : workloads_) {
    tensors = std::max(tensors, loaded.workload.tensors.size());
  }
  Bytes most = 0;
  for (const ChoiceConfig& choice : config_.compressors) {
    const WireFormat wire(compressor_spec(choice.id, choice.options), kElement);
    const auto elements = static_cast<std::size_t>(largest / kElement);
    const Bytes part = static_cast<Bytes>(shard_of(elements, 0, ranks).count) * kElement;
    if (wire.dense()) {
      most = std::max(most, part);
    } else if (wire.collective() == Collective::kAllGather) {
      most = std::max(most, wire.wire_bytes(largest, static_cast<std::int64_t>(tensors)));
    }
  }
  return (most + kElement - 1) / kElement * kElement;
}

void Session::refuse_budget(const std::string& what, int ranks) const {
  throw InputError(fmt::format(
      "the budget of {:.0f} s has no time to calibrate {} on {}, where a single message takes "
      "longer than its share: give a larger budget or a faster link",
      config_.budget_ns / 1e9, what, counted(ranks, "rank")));
}

bool Session::calibrate_collectives(RankGroup& group, Bytes largest,
                                    const std::vector<Collective>& wanted, std::size_t parts) {
  for (const Collective collective : wanted) {
    const std::string name = name_of(collective);
    announce(fmt::format("calibrating {} on {}", name, counted(group.ranks, "rank")));
    const Bytes most =
        collective == Collective::kAllGather ? largest_gathered(group.ranks, largest) : largest;
    const MeasuredCosts measured =
        calibrate_group(group, control_, *device_, calibration_settings(most, parts), collective);
    if (measured.stopped) return false;
    if (std::all_of(measured.variants.begin(), measured.variants.end(),
                    [](const MeasuredVariant& variant) { return variant.points.empty(); })) {
      refuse_budget(name, group.ranks);
    }
  }
  return true;
}

bool Session::calibrate_compressors(RankGroup& group, Bytes largest, std::size_t parts) {
  for (const ChoiceConfig& choice : config_.compressors) {
    if (choice.id == "none") continue;
    announce(fmt::format("calibrating {} on {}", label_of(choice), counted(group.ranks, "rank")));
    const CompressorCosts measured = calibrate_group_compressor(
        group, control_, *device_, calibration_settings(largest, parts), choice, config_.seed);
    if (measured.compress.stopped || measured.decompress.stopped) return false;
    if (!group.compressors.contains(label_of(choice))) {
      refuse_budget(label_of(choice), group.ranks);
    }
  }
  return true;
}

CalibrationSettings Session::calibration_settings(Bytes largest, std::size_t collectives) const {
  CalibrationSettings settings;
  settings.sizes = calibration_sizes(largest);
  settings.stop_requested = stop_requested;
  // A tenth of the budget, over all sizes, rounds, collectives and groups of ranks; on a link where
  // single messages take too long for that, no more than a third.
  if (config_.budget_ns > 0) {
    const Nanoseconds share =
        config_.budget_ns / static_cast<double>(collectives * config_.ranks.size());
    settings.time_per_point_ns =
        std::min(settings.time_per_point_ns,
                 share / 10 / static_cast<double>(settings.sizes.size()) / settings.rounds);
    settings.budget_ns = share / 3;
  }
  return settings;
}

// Copies cost something only when merging copies.
bool Session::add_packing(Profile& profile, int ranks, Bytes largest) {
  if (config_.buffers != "copy" || largest == 0) return true;
  announce("calibrating copies");
  const MeasuredCosts measured = calibrate_copy(
      control_, takes_part(ranks) ? device_.get() : nullptr, calibration_settings(largest, 1));
  if (measured.stopped) return false;
  MeasuredCost table;
  for (const CalibrationPoint& point : measured.variants.at(0).points) {
    table.points.emplace_back(point.bytes, point.ns);
  }
  profile.pack = CostModel(table);
  profile.unpack = CostModel(table);
  return true;
}

}  // namespace mergewise
