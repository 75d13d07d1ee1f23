// SPDX-License-Identifier: Apache-2.0
// Measures several merge plans of one workload against each other: verified, warmed up, interleaved
// in a recorded random order, headline times first, spans in a second pass.
#pragma once

#include "bench/collective/control_plane.hpp"
#include "bench/collective/emulated_link.hpp"
#include "bench/plan/merge_plan.hpp"
#include "bench/replay/measurement.hpp"
#include "bench/replay/replayer.hpp"
#include "bench/stats/stopping.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace mergewise {

struct Contestant {
  std::string label;  ///< for phases and progress: "resnet50 / wfbp"
  MergePlan plan;
  std::uint64_t hash = 0;  ///< of (plan, tensor sizes, compressor): compared across ranks
  std::string failure{};   ///< why it failed before, on all ranks; such a one is not run
};

struct ContestSettings {
  std::string title;  ///< of the whole contest, for phases: "resnet50, 4 ranks"
  int block = 5;      ///< iterations without a host stop between them
  Nanoseconds block_limit_ns =
      0;  ///< blocks are cut so that one lasts at most about this long; 0: no limit
  WarmupRule warmup;
  StoppingRule stopping;
  std::uint64_t seed = 1;
  Stamp finish_by = 0;                      ///< rank 0's clock; 0: no budget
  std::function<bool()> stop_requested;     ///< a signal arrived on this rank
  std::function<LinkCounts()> link_counts;  ///< of this rank's emulated link; empty without one
};

struct ContestantResult {
  bool verified = false;
  std::string failure;  ///< why verification failed, on the first rank that saw it, or the
                        ///< contestant's own
  std::vector<Nanoseconds> warmup_ns;  ///< per iteration the maximum over ranks
  std::vector<Nanoseconds> samples_ns;
  bool unstable = false;  ///< warm-up never settled
  std::string stopped;    ///< "target", "max", "budget", "signal"
  LinkCounts link;        ///< of rank 0, over the measured blocks
  /// With a compressor: since verifying, the iterations of one rank and the sums over all ranks of
  /// what they compressed.
  std::optional<MessageTotals> messages;
  std::optional<Breakdown> breakdown;
  std::vector<MeasuredSpan> spans;  ///< of all ranks; known on rank 0 only
};

struct ContestResult {
  std::vector<ContestantResult> contestants;
  std::vector<Nanoseconds> compute_alone_ns;
  std::vector<std::size_t> order;  ///< contestants in the order in which measured blocks ran
  bool interrupted = false;        ///< by a signal
  bool out_of_budget = false;
};

struct ContestProgress {
  std::size_t contestant = 0;
  std::string phase;             ///< "verifying", "warming up", "measuring", "spans"
  Nanoseconds time_left_ns = 0;  ///< upper estimate for this contest
};
/// Called after every block, on every rank, with what is known so far.
using ContestObserver = std::function<void(const ContestProgress&, const ContestResult&)>;

/// Runs the contest. Collective over the control plane; ranks that take no part (more ranks than
/// the case has) pass no replayer and only follow. Decisions are equal on all ranks: they are made
/// from exchanged numbers only. Throws VerificationError when ranks disagree about a plan, naming
/// the rank; BackendError when a rank or collective fails.
[[nodiscard]] ContestResult run_contest(ControlPlane& control, Replayer* replayer,
                                        const std::vector<Contestant>& contestants,
                                        const ContestSettings& settings,
                                        const ContestObserver& observer);

}  // namespace mergewise
