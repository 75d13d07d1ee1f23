// SPDX-License-Identifier: Apache-2.0
#include "bench/replay/lockstep.hpp"

#include "bench/core/error.hpp"
#include "bench/replay/exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace mergewise {

int block_that_fits(double fitting, int block) {
  return std::clamp(static_cast<int>(std::min(fitting, 1e6)), std::min(2, block), block);
}

Lockstep::Lockstep(ControlPlane& control, Replayer* replayer, Stamp finish_by,
                   std::function<bool()> stop_requested)
    : control_(control),
      replayer_(replayer),
      finish_by_(finish_by),
      stop_requested_(std::move(stop_requested)) {}

std::vector<std::string> Lockstep::exchange(const std::string& mine) {
  const bool stop = stop_requested_ && stop_requested_();
  const double left = finish_by_ == 0 ? 1e18 : static_cast<double>(finish_by_ - now());
  auto all = control_.all_gather(to_bytes(std::vector<double>{stop ? 1.0 : 0.0, left}) + mine);
  constexpr std::size_t kHeader = 2 * sizeof(double);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const auto header = from_bytes<double>(all[rank].substr(0, kHeader));
    if (header[0] > 0) interrupted_ = true;
    if (rank == 0) remaining_ = header[1];
    all[rank].erase(0, kHeader);
  }
  return all;
}

std::vector<Nanoseconds> Lockstep::run_block(PreparedPlan& plan, int iterations) {
  control_.barrier();
  std::vector<double> mine;
  if (replayer_ != nullptr) {
    replayer_->run(plan, iterations, stamps_);
    for (std::size_t i = 1; i < stamps_.size(); ++i) {
      mine.push_back(static_cast<double>(stamps_[i] - stamps_[i - 1]));
    }
  }
  std::vector<Nanoseconds> longest(static_cast<std::size_t>(iterations), 0.0);
  for (const std::string& bytes : exchange(to_bytes(mine))) {
    const auto values = from_bytes<double>(bytes);
    for (std::size_t i = 0; i < values.size(); ++i) longest[i] = std::max(longest[i], values[i]);
  }
  return longest;
}

Lockstep::Verified Lockstep::verify(PreparedPlan& plan) {
  control_.barrier();
  Nanoseconds time = 0;
  std::string failure;
  if (replayer_ != nullptr) {
    try {
      time = replayer_->verify(plan);
    } catch (const VerificationError& error) {
      failure = error.what();
    }
  }
  const std::vector<double> numbers{time, failure.empty() ? 0.0 : 1.0};
  const std::size_t size = numbers.size() * sizeof(double);
  Verified result;
  bool failed = false;
  for (const std::string& bytes : exchange(to_bytes(numbers) + failure)) {
    const auto theirs = from_bytes<double>(bytes.substr(0, size));
    result.time_ns = std::max(result.time_ns, theirs[0]);
    if (theirs[1] > 0 && !failed) {
      failed = true;
      result.failure = bytes.substr(size);
    }
  }
  return result;
}

void Lockstep::compare_hashes(const std::vector<std::uint64_t>& hashes,
                              const std::vector<std::string>& labels) {
  const auto all = control_.all_gather(to_bytes(hashes));
  const auto first = from_bytes<std::uint64_t>(all[0]);
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    const auto theirs = from_bytes<std::uint64_t>(all[rank]);
    for (std::size_t i = 0; i < first.size(); ++i) {
      if (i < theirs.size() && theirs[i] == first[i]) continue;
      throw VerificationError(
          fmt::format("rank {} has another plan for '{}' than rank 0 (hashes differ): all ranks "
                      "need the same program and the same config",
                      rank, labels[i]));
    }
  }
}

}  // namespace mergewise
