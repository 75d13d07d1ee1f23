// SPDX-License-Identifier: Apache-2.0
#include "bench/replay/race.hpp"

#include "bench/core/median.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace mergewise {
namespace {

constexpr Nanoseconds kUnknown = std::numeric_limits<double>::infinity();
// Rounds of the reference against itself: a spread needs more of them than a median; at most half
// of a budget's time.
constexpr int kNoiseRounds = 8;
constexpr int kLeastNoiseRounds = 3;
// What a budget is divided by: searches ask for about so many plans.
constexpr double kProbes = 20;
constexpr int kWarmup = 2;

/// Of the median of so many values with this spread; normal ones as the median absolute deviation
/// has it.
double standard_error(std::vector<double> values, int count) {
  const double middle = median(values);
  for (double& value : values) value = std::abs(value - middle);
  constexpr double kSigmaPerDeviation = 1.4826;
  constexpr double kMedianPerMean = 1.2533;
  return kMedianPerMean * kSigmaPerDeviation * median(values) / std::sqrt(count);
}

}  // namespace

Race::Race(ControlPlane& control, Replayer* replayer, MergePlan reference,
           std::function<std::uint64_t(const MergePlan&)> hash_of, RaceSettings settings)
    : ranks_(control, replayer, settings.finish_by, settings.stop_requested),
      hash_of_(std::move(hash_of)),
      settings_(std::move(settings)),
      incumbent_(make_entry(std::move(reference))) {}

Race::Entry Race::make_entry(MergePlan plan) const {
  Entry entry{std::move(plan), {}, 0};
  if (ranks_.replayer() != nullptr) entry.prepared = ranks_.replayer()->prepare(entry.plan);
  return entry;
}

bool Race::verify(Entry& entry) {
  ranks_.compare_hashes({hash_of_(entry.plan)}, {settings_.label});
  const Lockstep::Verified verified = ranks_.verify(entry.prepared);
  entry.time_ns = verified.time_ns;
  if (verified.failure.empty()) return true;
  const std::size_t groups = entry.plan.groups.size();
  failure_ = fmt::format("a plan that the search tried, with {} group{}, gives wrong sums: {}",
                         groups, groups == 1 ? "" : "s", verified.failure);
  return false;
}

// The reference against itself: the block that fits, the noise, and what the reference takes.
void Race::start() {
  if (block_ > 0) return;
  block_ = settings_.block;
  ranks_.control().set_phase(settings_.label + ", searching");
  if (!verify(incumbent_)) {
    incumbent_.time_ns = kUnknown;
    return;
  }
  const double probe_ns = 2.0 * settings_.rounds * incumbent_.time_ns;
  const Nanoseconds remaining = std::max(ranks_.remaining(), 0.0);
  double fitting = remaining / (kProbes * probe_ns);
  if (settings_.block_limit_ns > 0) {
    fitting = std::min(fitting, settings_.block_limit_ns / incumbent_.time_ns);
  }
  block_ = block_that_fits(fitting, settings_.block);
  const double affordable = remaining / 2 / (2.0 * block_ * incumbent_.time_ns);
  const int rounds = static_cast<int>(std::min<double>(affordable, kNoiseRounds));
  if (rounds < kLeastNoiseRounds) {
    out_of_budget_ = true;
    incumbent_.time_ns = kUnknown;
    return;
  }
  const std::vector<double> spread = ratios(incumbent_, rounds);
  if (spread.empty()) {
    incumbent_.time_ns = kUnknown;
    return;
  }
  noise_ = 2 * standard_error(spread, settings_.rounds);
  incumbent_.time_ns = median(incumbent_blocks_);
}

double Race::noise() {
  start();
  return noise_;
}

bool Race::goes_on() {
  if (ranks_.remaining() <= 0) out_of_budget_ = true;
  return !ranks_.interrupted() && ranks_.remaining() > 0;
}

// Of the entry's block by the incumbent's; whoever begins a round ends the one before. None when
// there was no end to it.
std::vector<double> Race::ratios(Entry& entry, int rounds) {
  std::vector<double> ratios;
  incumbent_blocks_.clear();
  for (int round = 0; round < rounds; ++round) {
    double times[2] = {};
    for (const int turn : {0, 1}) {
      if (!goes_on()) return {};
      const bool own = (turn + round) % 2 == 1;
      PreparedPlan& plan = own ? entry.prepared : incumbent_.prepared;
      times[own ? 1 : 0] = median(ranks_.run_block(plan, block_));
    }
    incumbent_blocks_.push_back(times[0]);
    ratios.push_back(times[1] / times[0]);
  }
  return ratios;
}

Nanoseconds Race::measure(Entry entry) {
  if (!failure_.empty() || !std::isfinite(incumbent_.time_ns) || ranks_.interrupted()) {
    return kUnknown;
  }
  const double iterations = 1.0 + kWarmup + 2.0 * settings_.rounds * block_;
  if (ranks_.remaining() < iterations * incumbent_.time_ns) {
    out_of_budget_ = true;
    return kUnknown;
  }
  if (!verify(entry)) return kUnknown;
  if (!goes_on()) return kUnknown;
  (void)ranks_.run_block(entry.prepared, kWarmup);
  const std::vector<double> beside = ratios(entry, settings_.rounds);
  if (beside.empty()) return kUnknown;
  entry.time_ns = median(beside) * incumbent_.time_ns;
  const Nanoseconds time = entry.time_ns;
  if (time < incumbent_.time_ns * (1 - noise_)) incumbent_ = std::move(entry);
  return time;
}

Nanoseconds Race::time(const MergePlan& plan) {
  start();
  const Nanoseconds time =
      plan.groups == incumbent_.plan.groups ? incumbent_.time_ns : measure(make_entry(plan));
  if (std::isfinite(time)) {
    probes_.push_back({plan.ends(), time});
    if (settings_.observe) settings_.observe(probes_.back());
  }
  return time;
}

}  // namespace mergewise
