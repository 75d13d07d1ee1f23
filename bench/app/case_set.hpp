// SPDX-License-Identifier: Apache-2.0
// The cases that are measured against each other: one workload, one number of ranks, one
// compressor, all strategies.
#pragma once

#include "bench/app/planning.hpp"
#include "bench/collective/emulated_link.hpp"
#include "bench/config/run_config.hpp"
#include "bench/core/compressor_spec.hpp"
#include "bench/cost/cluster.hpp"
#include "bench/cost/profile.hpp"
#include "bench/replay/contest.hpp"
#include "bench/result/result.hpp"
#include "bench/strategies/strategy.hpp"
#include "workloads/workload.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace mergewise {

struct PlannedStrategy {
  std::string strategy;
  PlannedCase planned;
  std::uint64_t hash = 0;
  std::vector<Probe> probes;                ///< what a search measured
  bool cut_short = false;                   ///< the search, by the budget
  std::string failure{};                    ///< of a plan that the search tried: fails the case
  std::optional<CompressionError> error{};  ///< on rank 0, of a compressor
};

/// Planned, but not measured.
struct LeftOut {
  PlannedStrategy strategy;
  std::string reason;
};

/// A plan that was found by measuring others.
struct Searched {
  MergePlan plan;
  std::vector<Probe> probes;
  bool cut_short = false;
  std::string failure{};
};
using Searcher = std::function<Searched(const Strategy& strategy, const Options& options,
                                        const TimeModel& model)>;

struct CaseSet {
  std::string workload;
  std::int64_t batch = 1;
  std::string times;
  std::string times_from;
  ChoiceConfig compressor{"none", {}};
  CompressorSpec spec{};  ///< of it, seeded
  int ranks = 1;
  std::string profile_key;
  Profile profile;
  std::vector<PlannedStrategy> strategies;  ///< that are measured against each other
  std::vector<LeftOut> left_out;
  std::optional<LinkModel> link;
  bool timed = true;               ///< compute holds times instead of working: the tax cannot show
  std::vector<std::string> flags;  ///< of every case of the set
};

/// For phases and progress: the workload, and what compresses it.
[[nodiscard]] std::string title_of(const CaseSet& set);

/// The profile of a workload's times, without ranks and costs of collectives.
[[nodiscard]] Profile times_of(const Workload& workload);

/// The same with these costs of collectives. On one rank, or without a byte to send, those that are
/// missing cost nothing.
[[nodiscard]] Profile make_profile(const Workload& workload, int ranks,
                                   const CollectiveCosts& costs);

/// The set's gradients are compressed from here on, at this cost; to be planned with it.
void compress_set(CaseSet& set, const ChoiceConfig& compressor, const CompressorCost& cost,
                  std::uint64_t run_seed);

/// Of (plan, tensor sizes, compressor): what ranks compare before they replay it.
[[nodiscard]] std::uint64_t hash_of(const CaseSet& set, const MergePlan& plan);

/// Plans every strategy of the config for the set's profile; those that search with `search`, or
/// in the model without it. One that cannot send what is compressed is left out, with the reason.
void plan_strategies(CaseSet& set, const std::vector<ChoiceConfig>& strategies,
                     const Searcher& search = {});

/// Leaves in the set the `most` strategies with the least predicted iterations among those with
/// distinct plans, and wfbp, which stands for not merging. Of strategies with one plan (or that
/// predict the same) the first counts. The others are left out, with the reason.
void keep_best(CaseSet& set, std::size_t most);

/// Every collective that one of these strategies sends this workload with, or one of these
/// compressors, and the all-reduce, by whose cost optimal plans are made.
[[nodiscard]] std::vector<Collective> collectives_of(const std::vector<ChoiceConfig>& strategies,
                                                     const std::vector<ChoiceConfig>& compressors,
                                                     const Workload& workload);

/// As the contest wants them.
[[nodiscard]] std::vector<Contestant> contestants_of(const CaseSet& set);

}  // namespace mergewise
