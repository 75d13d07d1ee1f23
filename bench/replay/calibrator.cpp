// SPDX-License-Identifier: Apache-2.0
#include "bench/replay/calibrator.hpp"

#include "bench/core/median.hpp"
#include "bench/replay/exchange.hpp"
#include "bench/stats/random.hpp"
#include "bench/stats/summary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace mergewise::detail {
namespace {

// What a measurement needs at least: one operation has none before it to be back to back with.
int fewest_repetitions(CostVariant variant) { return variant == CostVariant::kIsolated ? 1 : 2; }

// Of the budget, so that the last measurement ends within it.
constexpr double kUsable = 0.9;
// Of the budget, for trying all sizes once.
constexpr double kForTrials = 0.5;

}  // namespace

Calibrator::Calibrator(ControlPlane& control, const CalibrationSettings& settings)
    : control_(control), settings_(settings), started_(now()) {}

Calibrator::Calibrator(ControlPlane& control, const CalibrationSettings& settings, Device& device,
                       Stream& stream, Operation operation)
    : Calibrator(control, settings) {
  stream_ = &stream;
  operation_ = std::move(operation);
  begin_ = device.create_event();
  end_ = device.create_event();
  const auto& variants = settings.variants;
  if (std::find(variants.begin(), variants.end(), CostVariant::kBesideCompute) != variants.end()) {
    load_ = std::make_unique<ComputeLoad>(device);
  }
}

MeasuredCosts Calibrator::run() {
  budget_ = from_rank0(settings_.budget_ns);
  try_sizes();
  if (!stopped_ && !out_of_time_) set_repetitions();
  for (int round = 0; round < settings_.rounds && !stopped_ && !out_of_time_; ++round) {
    measure_round(round);
  }
  return result();
}

// Each size once, the smallest first, as far as each variant's part of the budget goes.
void Calibrator::try_sizes() {
  trials_.resize(settings_.variants.size());
  for (std::size_t i = 0; i < settings_.sizes.size() && !stopped_; ++i) {
    if (i > 0 && budget_ > 0) leave_out_from(i);
    const auto goes_on = [](const Trials& trials) { return trials.left_out.empty(); };
    if (std::none_of(trials_.begin(), trials_.end(), goes_on)) return;
    const Bytes bytes = settings_.sizes[i];
    observe(bytes, settings_.variants.front(), -1);
    // Connects lazily, touches the memory.
    (void)take(bytes, CostVariant::kBackToBack, 1);
    for (std::size_t variant = 0; variant < trials_.size() && !stopped_; ++variant) {
      if (!goes_on(trials_[variant])) continue;
      // Where the first size alone takes the whole budget, not every variant is tried.
      if (out_of_time_) {
        trials_[variant].left_out = sizes_from(i);
      } else {
        try_size(variant, bytes);
      }
    }
  }
}

// The operations of this size are expected to take longer than the last one's as it is larger. All
// ranks agree on what was measured, hence on this.
void Calibrator::leave_out_from(std::size_t size) {
  const double ratio =
      static_cast<double>(settings_.sizes[size]) / static_cast<double>(settings_.sizes[size - 1]);
  const Nanoseconds share = budget_ * kForTrials / static_cast<double>(trials_.size());
  for (Trials& trials : trials_) {
    const Nanoseconds expected = trials.overhead + trials.operations * ratio;
    if (!trials.left_out.empty()) continue;
    if (!out_of_time_ && trials.used + expected <= share) continue;
    trials.left_out = sizes_from(size);
  }
}

std::vector<Bytes> Calibrator::sizes_from(std::size_t size) const {
  return {settings_.sizes.begin() + static_cast<std::ptrdiff_t>(size), settings_.sizes.end()};
}

void Calibrator::try_size(std::size_t variant, Bytes bytes) {
  Cell cell{variant, bytes, 0, 0, fewest_repetitions(settings_.variants[variant]), 0, {}};
  cell.trial = take(bytes, settings_.variants[variant], cell.repetitions);
  Trials& trials = trials_[variant];
  trials.operations = cell.trial * cell.repetitions;
  trials.overhead = cell.overhead = std::max(last_wall_ - trials.operations, 0.0);
  trials.used += last_wall_;
  cells_.push_back(std::move(cell));
}

// An equal share of the time for each cell and round; the large ones need more than theirs and get
// fewer rounds.
void Calibrator::set_repetitions() {
  Nanoseconds share = settings_.time_per_point_ns;
  if (budget_ > 0) {
    share = std::min(
        share, left() / static_cast<double>(settings_.rounds) / static_cast<double>(cells_.size()));
  }
  for (Cell& cell : cells_) {
    const double fewest = fewest_repetitions(settings_.variants[cell.variant]);
    const double most = std::max(fewest, static_cast<double>(settings_.most_repetitions));
    const double fitting = (share - cell.overhead) / std::max(cell.trial, 1.0);
    cell.repetitions = static_cast<int>(std::clamp(fitting, fewest, most));
    cell.wall = cell.overhead + cell.trial * cell.repetitions;
  }
}

// In random order, without the most expensive ones that would not leave their time to the rounds
// after this.
std::vector<std::size_t> Calibrator::cells_of_round(int round) {
  std::vector<std::size_t> chosen(cells_.size());
  std::iota(chosen.begin(), chosen.end(), std::size_t{0});
  if (budget_ > 0) {
    std::stable_sort(chosen.begin(), chosen.end(), [this](std::size_t a, std::size_t b) {
      return cells_[a].wall < cells_[b].wall;
    });
    const Nanoseconds share = left() / (settings_.rounds - round);
    Nanoseconds sum = 0;
    std::size_t count = 0;
    while (count < chosen.size() && (sum += cells_[chosen[count]].wall) <= share) ++count;
    chosen.resize(count);
    std::sort(chosen.begin(), chosen.end());
  }
  SplitMix64 random(settings_.seed + static_cast<std::uint64_t>(round));
  shuffle(chosen, random);
  return chosen;
}

void Calibrator::measure_round(int round) {
  for (const std::size_t i : cells_of_round(round)) {
    if (stopped_ || out_of_time_) return;
    Cell& cell = cells_[i];
    const CostVariant variant = settings_.variants[cell.variant];
    observe(cell.bytes, variant, round);
    cell.samples.push_back(take(cell.bytes, variant, cell.repetitions));
    cell.wall = last_wall_;
  }
}

// On this rank: how long each repetition took, or all together divided by their number.
std::vector<double> Calibrator::time_here(Bytes bytes, CostVariant variant, int repetitions) {
  const bool isolated = variant == CostVariant::kIsolated;
  std::vector<double> times;
  for (int part = 0; part < (isolated ? repetitions : 1); ++part) {
    control_.barrier();
    if (stream_ == nullptr) continue;
    const int count = isolated ? 1 : repetitions;
    stream_->record(*begin_);
    for (int i = 0; i < count; ++i) operation_(bytes);
    stream_->record(*end_);
    stream_->synchronize();
    times.push_back(static_cast<double>(end_->stamp() - begin_->stamp()) / count);
  }
  return times;
}

// The mean of the repetitions, each the maximum over ranks.
Nanoseconds Calibrator::take(Bytes bytes, CostVariant variant, int repetitions) {
  const Stamp begin = now();
  if (load_ && variant == CostVariant::kBesideCompute) load_->start();
  const std::vector<double> times = time_here(bytes, variant, repetitions);
  if (load_) load_->stop();
  const bool stop = settings_.stop_requested && settings_.stop_requested();
  const auto end = now();
  const bool late = budget_ > 0 && static_cast<double>(end - started_) > budget_;
  std::vector<double> mine{stop ? 1.0 : 0.0, late ? 1.0 : 0.0, static_cast<double>(end - begin)};
  mine.insert(mine.end(), times.begin(), times.end());
  std::vector<double> longest;
  last_wall_ = 0;
  for (const std::string& bytes_of_rank : control_.all_gather(to_bytes(mine))) {
    const auto values = from_bytes<double>(bytes_of_rank);
    stopped_ = stopped_ || values[0] > 0;
    out_of_time_ = out_of_time_ || values[1] > 0;
    last_wall_ = std::max(last_wall_, values[2]);
    longest.resize(std::max(longest.size(), values.size() - 3), 0.0);
    for (std::size_t i = 3; i < values.size(); ++i) {
      longest[i - 3] = std::max(longest[i - 3], values[i]);
    }
  }
  return mean(longest);
}

Nanoseconds Calibrator::left() {
  return std::max(from_rank0(budget_ * kUsable - static_cast<double>(now() - started_)), 0.0);
}

// What decides what is measured next must be the same on all ranks.
double Calibrator::from_rank0(double mine) {
  return from_bytes<double>(control_.broadcast(to_bytes(std::vector<double>{mine})))[0];
}

// A trial counts only where nothing better came of its size.
MeasuredCosts Calibrator::result() const {
  MeasuredCosts costs;
  costs.stopped = stopped_;
  for (std::size_t i = 0; i < settings_.variants.size(); ++i) {
    costs.variants.push_back({settings_.variants[i], {}, trials_[i].left_out});
  }
  for (const Cell& cell : cells_) {
    CalibrationPoint point;
    point.bytes = cell.bytes;
    point.ns = cell.samples.empty() ? cell.trial : median(cell.samples);
    point.low_ns = point.high_ns = std::numeric_limits<double>::quiet_NaN();
    point.repetitions = cell.samples.empty()
                            ? fewest_repetitions(settings_.variants[cell.variant])
                            : cell.repetitions * static_cast<int>(cell.samples.size());
    if (cell.samples.size() > 1) {
      const Interval interval = bootstrap_median(cell.samples, 1, settings_.seed);
      point.low_ns = interval.low;
      point.high_ns = interval.high;
    }
    costs.variants[cell.variant].points.push_back(point);
  }
  return costs;
}

void Calibrator::observe(Bytes bytes, CostVariant variant, int round) const {
  if (settings_.observe) settings_.observe(bytes, variant, round);
}

}  // namespace mergewise::detail
