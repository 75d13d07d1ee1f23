// SPDX-License-Identifier: Apache-2.0
#include "bench/app/result_book.hpp"

#include "bench/app/output.hpp"

#include <chrono>

namespace mergewise {

ResultBook::ResultBook(std::filesystem::path folder, Result base)
    : folder_(std::move(folder)), result_(std::move(base)) {
  prepare_output_folder(folder_);
}

void ResultBook::write(const Result& result) const {
  write_result(result_file(), result);
  write_file(trace_file(), to_chrome_trace(traces_).dump());
}

void ResultBook::add_profile(const std::string& key, const Profile& profile) {
  const std::scoped_lock lock(mutex_);
  result_.profiles.insert_or_assign(key, profile);
}

void ResultBook::add_calibration(const Calibration& calibration) {
  const std::scoped_lock lock(mutex_);
  result_.calibrations.push_back(calibration);
}

void ResultBook::update_partial(std::vector<CaseRecord> cases) {
  const std::scoped_lock lock(mutex_);
  partial_ = std::move(cases);
}

void ResultBook::finish_set(std::vector<CaseRecord> cases, std::vector<TraceCase> traces,
                            const std::vector<std::string>& order) {
  const std::scoped_lock lock(mutex_);
  result_.cases.insert(result_.cases.end(), std::make_move_iterator(cases.begin()),
                       std::make_move_iterator(cases.end()));
  traces_.insert(traces_.end(), std::make_move_iterator(traces.begin()),
                 std::make_move_iterator(traces.end()));
  result_.order.insert(result_.order.end(), order.begin(), order.end());
  partial_.clear();
  write(result_);
}

void ResultBook::complete() {
  const std::scoped_lock lock(mutex_);
  result_.complete = true;
  write(result_);
}

bool ResultBook::abandon(const std::string& reason) noexcept {
  try {
    const std::unique_lock lock(mutex_, std::chrono::seconds(2));
    if (!lock.owns_lock()) return false;
    for (CaseRecord& record : partial_) {
      const bool settled =
          record.status == CaseStatus::kFailed || record.status == CaseStatus::kSkipped;
      if (settled) continue;
      record.status = CaseStatus::kPartial;
      record.reason = reason;
    }
    result_.cases.insert(result_.cases.end(), partial_.begin(), partial_.end());
    partial_.clear();
    write(result_);
    return true;
  } catch (const std::exception&) {
    return false;  // the caller is about to end the process and says so
  }
}

Result ResultBook::snapshot() const {
  const std::scoped_lock lock(mutex_);
  return result_;
}

}  // namespace mergewise
