// SPDX-License-Identifier: Apache-2.0
// The cases that are measured against each other: one workload, one number of ranks, one
// compressor, all strategies.
#pragma once

#include "bench/app/planning.hpp"
#include "bench/collective/emulated_link.hpp"
#include "bench/config/run_config.hpp"
#include "bench/cost/cluster.hpp"
#include "bench/cost/profile.hpp"
#include "bench/replay/contest.hpp"
#include "workloads/workload.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mergewise {

struct PlannedStrategy {
  std::string strategy;
  PlannedCase planned;
  std::uint64_t hash = 0;
};

struct CaseSet {
  std::string workload;
  std::int64_t batch = 1;
  std::string times;
  std::string times_from;
  std::string compressor = "none";
  int ranks = 1;
  std::string profile_key;
  Profile profile;
  std::vector<PlannedStrategy> strategies;
  std::optional<LinkModel> link;
  bool timed = true;               ///< compute holds times instead of working: the tax cannot show
  std::vector<std::string> flags;  ///< of every case of the set
};

/// The profile of a workload's times with these costs of collectives. On one rank those that are
/// missing cost nothing.
[[nodiscard]] Profile make_profile(const Workload& workload, int ranks,
                                   const CollectiveCosts& costs);

/// Plans every strategy of the config for the set's profile.
void plan_strategies(CaseSet& set, const std::vector<ChoiceConfig>& strategies);

/// As the contest wants them.
[[nodiscard]] std::vector<Contestant> contestants_of(const CaseSet& set);

}  // namespace mergewise
