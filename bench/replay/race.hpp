// SPDX-License-Identifier: Apache-2.0
// Measures one plan after the other against the best so far, for searches that ask how long an
// iteration takes.
#pragma once

#include "bench/plan/merge_plan.hpp"
#include "bench/replay/lockstep.hpp"
#include "bench/replay/measurement.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace mergewise {

struct RaceSettings {
  std::string label;                     ///< for phases and errors: "resnet50 / mergecomp, 4 ranks"
  int block = 5;                         ///< iterations without a host stop between them, at most
  int rounds = 4;                        ///< a block of each plan in every round
  Nanoseconds block_limit_ns = 0;        ///< as ContestSettings
  Stamp finish_by = 0;                   ///< rank 0's clock; 0: no budget
  std::function<bool()> stop_requested;  ///< a signal arrived on this rank
  std::function<void(const Probe&)>
      observe;  ///< called after each probe, on every rank; may be empty
};

/// Every probe is replayed beside the incumbent, verified first, in blocks that take turns. What it
/// is said to take is the median over rounds of its time by the incumbent's, times what the
/// incumbent is said to take: a machine that becomes slower meanwhile does not count against it. A
/// probe that is faster by more than the noise becomes the incumbent. Collective, and decided
/// alike, as Lockstep; its errors.
class Race {
 public:
  /// `reference`: the first incumbent. `hash_of` a plan is compared across ranks.
  Race(ControlPlane& control, Replayer* replayer, MergePlan reference,
       std::function<std::uint64_t(const MergePlan&)> hash_of, RaceSettings settings);

  /// Infinity for a plan that could not be measured: the budget had no time for it, a rank wished
  /// to stop, or it or one before it gives wrong sums: see failure().
  [[nodiscard]] Nanoseconds time(const MergePlan& plan);
  /// Two standard errors of such a ratio, from the reference against itself; measured once.
  [[nodiscard]] double noise();

  [[nodiscard]] const std::vector<Probe>& probes() const { return probes_; }
  [[nodiscard]] bool interrupted() const { return ranks_.interrupted(); }
  [[nodiscard]] bool out_of_budget() const { return out_of_budget_; }
  /// "" or which plan gave wrong sums, as the first rank that saw it says. Nothing is measured from
  /// then on: what was found before proves nothing either.
  [[nodiscard]] const std::string& failure() const { return failure_; }

 private:
  struct Entry {
    MergePlan plan;
    PreparedPlan prepared;
    Nanoseconds time_ns = 0;
  };

  void start();
  [[nodiscard]] bool verify(Entry& entry);
  [[nodiscard]] bool goes_on();  // no stop, and the budget is not spent
  [[nodiscard]] std::vector<double> ratios(Entry& entry, int rounds);
  [[nodiscard]] Nanoseconds measure(Entry entry);
  [[nodiscard]] Entry make_entry(MergePlan plan) const;

  Lockstep ranks_;
  std::function<std::uint64_t(const MergePlan&)> hash_of_;
  RaceSettings settings_;
  Entry incumbent_;
  int block_ = 0;  // 0: not started
  double noise_ = 0;
  bool out_of_budget_ = false;
  std::string failure_;
  std::vector<Probe> probes_;
  std::vector<Nanoseconds> incumbent_blocks_;  // medians of its blocks in the last ratios()
};

}  // namespace mergewise
