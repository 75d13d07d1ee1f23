// SPDX-License-Identifier: Apache-2.0
// All sets of a config on this rank, one after the other: profile -> merge plans -> replay ->
// records.
#pragma once

#include "bench/app/case_set.hpp"
#include "bench/app/load_workloads.hpp"
#include "bench/app/progress.hpp"
#include "bench/app/rank_group.hpp"
#include "bench/app/result_book.hpp"
#include "bench/config/run_config.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mergewise {

/// Collective over the control plane: all ranks make one with the same config and workloads and run
/// it.
class Session {
 public:
  /// The book is rank 0's, null elsewhere. All references outlive this object. With a shortlist,
  /// strategies are planned in the model only, and just so many of a set are measured, the best
  /// there, beside wfbp: see keep_best(). 0: all of them.
  Session(const RunConfig& config, const std::vector<LoadedWorkload>& workloads,
          ControlPlane& control, const NetworkOptions& network, ResultBook* book,
          std::size_t shortlist = 0);

  /// False when a signal stopped it; what was measured of the set under way is then in the book as
  /// partial.
  [[nodiscard]] bool run();

 private:
  void check_memory() const;
  [[nodiscard]] bool prepare_group(int ranks);
  [[nodiscard]] bool calibrate(RankGroup& group, Bytes largest);
  [[nodiscard]] bool calibrate_collectives(RankGroup& group, Bytes largest,
                                           const std::vector<Collective>& wanted,
                                           std::size_t parts);
  [[nodiscard]] bool calibrate_compressors(RankGroup& group, Bytes largest, std::size_t parts);
  [[nodiscard]] std::vector<Collective> wanted_collectives() const;
  [[nodiscard]] Bytes largest_gathered(int ranks, Bytes largest) const;
  [[noreturn]] void refuse_budget(const std::string& what, int ranks) const;
  [[nodiscard]] bool run_set(const LoadedWorkload& loaded, int ranks,
                             const ChoiceConfig& compressor, std::size_t sets_left);
  [[nodiscard]] CaseSet describe_set(const LoadedWorkload& loaded, const Workload& workload,
                                     int ranks, const ChoiceConfig& compressor) const;
  void measure_errors(CaseSet& set) const;
  [[nodiscard]] bool add_packing(Profile& profile, int ranks, Bytes largest);
  void add_to_book(const CaseSet& set, const std::vector<Calibration>& calibrations);
  [[nodiscard]] CalibrationSettings calibration_settings(Bytes largest,
                                                         std::size_t collectives) const;
  [[nodiscard]] Searcher searcher(const CaseSet& set, Replayer* replayer, std::size_t sets_left);
  [[nodiscard]] ContestSettings contest_settings(const RankGroup& group, std::size_t contestants,
                                                 std::size_t sets_left) const;
  [[nodiscard]] bool oversubscribed(int ranks) const;
  [[nodiscard]] bool takes_part(int ranks) const { return control_.rank() < ranks; }
  [[nodiscard]] std::size_t block() const;
  [[nodiscard]] Nanoseconds time_left(std::size_t sets_left) const;
  void announce(const std::string& phase);
  void observe(const CaseSet& set, const ContestProgress& progress, const ContestResult& so_far);

  const RunConfig& config_;
  const std::vector<LoadedWorkload>& workloads_;
  ControlPlane& control_;
  const NetworkOptions& network_;
  ResultBook* book_;
  std::size_t shortlist_;
  std::unique_ptr<Device> device_;
  Progress progress_;
  bool timed_;  // compute holds times instead of working
  Stamp begin_;
  int local_ranks_ = 1;  // on this host
  std::optional<LinkModel> link_;
  std::map<int, RankGroup> groups_;  // by number of ranks
  bool stopped_searching_ = false;   // by a signal
};

}  // namespace mergewise
