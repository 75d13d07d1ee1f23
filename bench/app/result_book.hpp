// SPDX-License-Identifier: Apache-2.0
// The result while it grows: what is finished is on disk, what is under way can be saved at any
// moment.
#pragma once

#include "bench/result/result.hpp"
#include "bench/result/trace.hpp"

#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

namespace mergewise {

/// Thread-safe: the replay's thread adds, the control plane's thread may abandon. Only rank 0 has
/// one.
class ResultBook {
 public:
  /// Prepares the folder, see prepare_output_folder().
  ResultBook(std::filesystem::path folder, Result base);

  void add_profile(const std::string& key, const Profile& profile);
  void add_calibration(const Calibration& calibration);
  /// The state of a set under way: replaced by the next call, dropped by finish_set.
  void update_partial(std::vector<CaseRecord> cases);
  /// A set is finished: kept for good and written.
  void finish_set(std::vector<CaseRecord> cases, std::vector<TraceCase> traces,
                  const std::vector<std::string>& order);
  /// Everything that was asked for is done.
  void complete();
  /// The run ends early: the partial cases are kept, with the reason. Returns false when it could
  /// not be written (another thread is stuck in here, or the disk is full), after at most two
  /// seconds.
  bool abandon(const std::string& reason) noexcept;

  [[nodiscard]] Result snapshot() const;
  [[nodiscard]] std::filesystem::path result_file() const { return folder_ / "result.json"; }
  [[nodiscard]] std::filesystem::path trace_file() const { return folder_ / "trace.json"; }

 private:
  void write(const Result& result) const;

  std::filesystem::path folder_;
  mutable std::timed_mutex mutex_;
  Result result_;
  std::vector<CaseRecord> partial_;
  std::vector<TraceCase> traces_;
};

}  // namespace mergewise
