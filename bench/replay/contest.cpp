// SPDX-License-Identifier: Apache-2.0
#include "bench/replay/contest.hpp"

#include "bench/core/error.hpp"
#include "bench/core/median.hpp"
#include "bench/replay/exchange.hpp"
#include "bench/replay/spans.hpp"
#include "bench/stats/random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace mergewise {
namespace {

// The first one starts from a barrier and is left out.
constexpr int kSpanIterations = 4;

void shuffle(std::vector<std::size_t>& values, SplitMix64& random) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random.below(i)]);
}

class Contest {
 public:
  Contest(ControlPlane& control, Replayer* replayer, const std::vector<Contestant>& contestants,
          const ContestSettings& settings, const ContestObserver& observer)
      : control_(control),
        replayer_(replayer),
        contestants_(contestants),
        settings_(settings),
        observer_(observer),
        random_(settings.seed),
        estimates_(contestants.size(), 0.0) {
    result_.contestants.resize(contestants.size());
  }

  ContestResult run() {
    compare_hashes();
    prepare();
    for (std::size_t i = 0; i < contestants_.size() && !result_.interrupted; ++i) verify(i);
    if (!result_.interrupted) measure_compute_alone();
    for (std::size_t i = 0; i < contestants_.size() && !result_.interrupted; ++i) warm_up(i);
    measure();
    for (std::size_t i = 0; i < contestants_.size() && !result_.interrupted; ++i) record_spans(i);
    return std::move(result_);
  }

 private:
  // Everybody's bytes; each message also carries the wish to stop and, from rank 0, what is left of
  // the budget, so that all ranks decide alike.
  std::vector<std::string> exchange(const std::string& mine) {
    const bool stop = settings_.stop_requested && settings_.stop_requested();
    const double left =
        settings_.finish_by == 0 ? 1e18 : static_cast<double>(settings_.finish_by - now());
    auto all = control_.all_gather(to_bytes(std::vector<double>{stop ? 1.0 : 0.0, left}) + mine);
    constexpr std::size_t kHeader = 2 * sizeof(double);
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      const auto header = from_bytes<double>(all[rank].substr(0, kHeader));
      if (header[0] > 0) result_.interrupted = true;
      if (rank == 0) remaining_ = header[1];
      all[rank].erase(0, kHeader);
    }
    return all;
  }

  // What a block gave: per iteration the maximum over ranks.
  std::vector<Nanoseconds> run_block(PreparedPlan& plan, int iterations) {
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

  // Blocks are cut to the limit; two iterations are the least that still has one without a barrier
  // before it.
  [[nodiscard]] int block_for(std::size_t i) const {
    if (settings_.block_limit_ns <= 0 || estimates_[i] <= 0) return settings_.block;
    const double fitting = settings_.block_limit_ns / estimates_[i];
    return std::clamp(static_cast<int>(std::min(fitting, 1e6)), std::min(2, settings_.block),
                      settings_.block);
  }

  [[nodiscard]] Nanoseconds block_time(std::size_t i) const { return estimates_[i] * block_for(i); }

  [[nodiscard]] Nanoseconds span_time(std::size_t i) const {
    return estimates_[i] * kSpanIterations;
  }

  // What must stay in the budget: everybody's span pass (with a margin, recording costs something),
  // and a first block of those that have none.
  [[nodiscard]] Nanoseconds reserve() const {
    Nanoseconds total = 0;
    for (std::size_t i = 0; i < contestants_.size(); ++i) {
      total += 1.25 * span_time(i);
      if (result_.contestants[i].samples_ns.empty()) total += block_time(i);
    }
    return total;
  }

  // Another block of contestant i fits the budget; a first one is what the reserve is for.
  [[nodiscard]] bool affordable(std::size_t i) const {
    const bool first = result_.contestants[i].samples_ns.empty();
    return remaining_ >= block_time(i) + (first ? 0 : reserve());
  }

  void report(std::size_t i, const char* phase, Nanoseconds time_left) {
    if (!observer_) return;
    observer_({i, phase, std::min(time_left, std::max(remaining_, 0.0))}, result_);
  }

  void set_phase(std::size_t i, const char* phase) {
    control_.set_phase(fmt::format("{}, {}", contestants_[i].label, phase));
  }

  void compare_hashes() {
    std::vector<std::uint64_t> mine;
    for (const Contestant& contestant : contestants_) mine.push_back(contestant.hash);
    const auto all = control_.all_gather(to_bytes(mine));
    for (std::size_t rank = 1; rank < all.size(); ++rank) {
      const auto theirs = from_bytes<std::uint64_t>(all[rank]);
      const auto first = from_bytes<std::uint64_t>(all[0]);
      for (std::size_t i = 0; i < first.size(); ++i) {
        if (i < theirs.size() && theirs[i] == first[i]) continue;
        throw VerificationError(
            fmt::format("rank {} has another plan for '{}' than rank 0 (hashes differ): all ranks "
                        "need the same program and the same config",
                        rank, contestants_[i].label));
      }
    }
  }

  void prepare() {
    plans_.resize(contestants_.size());
    if (replayer_ == nullptr) return;
    alone_ = replayer_->prepare_compute_alone();
    for (std::size_t i = 0; i < contestants_.size(); ++i) {
      plans_[i] = replayer_->prepare(contestants_[i].plan);
    }
  }

  // One iteration with known gradients; its length is the first estimate. A wrong sum fails the
  // contestant on all ranks.
  void verify(std::size_t i) {
    set_phase(i, "verifying");
    control_.barrier();
    const Stamp begin = now();
    std::string failure;
    if (replayer_ != nullptr) {
      try {
        replayer_->verify(plans_[i]);
      } catch (const VerificationError& error) {
        failure = error.what();
      }
    }
    const std::vector<double> numbers{static_cast<double>(now() - begin),
                                      failure.empty() ? 0.0 : 1.0};
    const std::size_t size = numbers.size() * sizeof(double);
    ContestantResult& result = result_.contestants[i];
    result.verified = true;
    for (const std::string& bytes : exchange(to_bytes(numbers) + failure)) {
      const auto theirs = from_bytes<double>(bytes.substr(0, size));
      estimates_[i] = std::max(estimates_[i], theirs[0]);
      if (theirs[1] > 0 && result.verified) {
        result.verified = false;
        result.failure = bytes.substr(size);
      }
    }
    if (!result.verified) estimates_[i] = 0;  // takes no further part
    report(i, "verifying", remaining_);
  }

  void measure_compute_alone() {
    control_.set_phase(fmt::format("{}, compute alone", settings_.title));
    (void)run_block(alone_, 1);
    result_.compute_alone_ns = run_block(alone_, settings_.block);
  }

  void warm_up(std::size_t i) {
    ContestantResult& result = result_.contestants[i];
    if (!result.verified) return;
    set_phase(i, "warming up");
    std::vector<double> medians;
    Warmup verdict = Warmup::kGoOn;
    while (verdict == Warmup::kGoOn && !result_.interrupted &&
           remaining_ >= block_time(i) + reserve()) {
      const auto block = run_block(plans_[i], block_for(i));
      result.warmup_ns.insert(result.warmup_ns.end(), block.begin(), block.end());
      medians.push_back(median(block));
      estimates_[i] = medians.back();
      verdict = judge_warmup(settings_.warmup, medians);
      report(i, "warming up", time_left());
    }
    result.unstable = verdict != Warmup::kStable;
  }

  // Rounds in random order until every contestant has what it needs.
  void measure() {
    std::vector<std::size_t> active;
    for (std::size_t i = 0; i < contestants_.size(); ++i) {
      if (result_.contestants[i].verified) active.push_back(i);
    }
    while (!active.empty() && !result_.interrupted) {
      shuffle(active, random_);
      for (const std::size_t i : active) {
        if (result_.interrupted) break;
        if (affordable(i)) {
          measure_block(i);
        } else {
          result_.contestants[i].stopped = "budget";
          result_.out_of_budget = true;
        }
      }
      std::erase_if(active, [&](std::size_t i) { return !result_.contestants[i].stopped.empty(); });
      // The shuffled order must not depend on what earlier rounds left behind.
      std::sort(active.begin(), active.end());
    }
    for (const std::size_t i : active) result_.contestants[i].stopped = "signal";
  }

  void measure_block(std::size_t i) {
    ContestantResult& result = result_.contestants[i];
    set_phase(i, "measuring");
    const LinkCounts before = link_counts();
    const auto wanted =
        settings_.stopping.max_iterations - static_cast<int>(result.samples_ns.size());
    const auto block = run_block(plans_[i], std::min(block_for(i), wanted));
    const LinkCounts after = link_counts();
    result.link.collectives += after.collectives - before.collectives;
    result.link.overran += after.overran - before.overran;
    result.samples_ns.insert(result.samples_ns.end(), block.begin(), block.end());
    result_.order.push_back(i);
    estimates_[i] = median(result.samples_ns);
    const Stop stop = judge_stop(settings_.stopping, result.samples_ns,
                                 static_cast<std::size_t>(settings_.block), settings_.seed);
    if (stop != Stop::kGoOn) result.stopped = name_of(stop);
    report(i, "measuring", time_left());
  }

  [[nodiscard]] LinkCounts link_counts() const {
    return settings_.link_counts ? settings_.link_counts() : LinkCounts{};
  }

  // As if every contestant went to its maximum: an upper estimate.
  [[nodiscard]] Nanoseconds time_left() const {
    Nanoseconds total = 0;
    for (std::size_t i = 0; i < contestants_.size(); ++i) {
      const ContestantResult& result = result_.contestants[i];
      const auto done = static_cast<double>(result.samples_ns.size());
      const double open = result.stopped.empty() ? settings_.stopping.max_iterations - done : 0.0;
      total += estimates_[i] * std::max(0.0, open) + block_time(i);
    }
    return total;
  }

  void record_spans(std::size_t i) {
    ContestantResult& result = result_.contestants[i];
    if (result.samples_ns.empty() || remaining_ < span_time(i)) return;
    set_phase(i, "recording spans");
    RankStamps mine{control_.rank(), control_.sample_clock(), {}, {}};
    control_.barrier();
    if (replayer_ != nullptr) {
      mine.iterations = replayer_->run_with_spans(plans_[i], kSpanIterations);
    }
    mine.after = control_.sample_clock();
    std::vector<RankStamps> ranks;
    for (const std::string& bytes : exchange(replayer_ != nullptr ? encode(mine) : std::string())) {
      if (!bytes.empty()) ranks.push_back(decode(bytes));
    }
    SpanSummary summary = summarize_spans(ranks);
    summary.breakdown.observer_ns = median(summary.iterations_ns) - median(result.samples_ns);
    result.breakdown = summary.breakdown;
    if (control_.rank() == 0) result.spans = std::move(summary.spans);
    report(i, "recording spans", time_left());
  }

  ControlPlane& control_;
  Replayer* replayer_;
  const std::vector<Contestant>& contestants_;
  const ContestSettings& settings_;
  const ContestObserver& observer_;
  SplitMix64 random_;
  std::vector<Nanoseconds> estimates_;  // of one iteration, by contestant; 0: out of the race
  std::vector<PreparedPlan> plans_;
  PreparedPlan alone_;
  std::vector<Stamp> stamps_;
  Nanoseconds remaining_ = 1e18;  // of the budget, as rank 0 last said
  ContestResult result_;
};

}  // namespace

ContestResult run_contest(ControlPlane& control, Replayer* replayer,
                          const std::vector<Contestant>& contestants,
                          const ContestSettings& settings, const ContestObserver& observer) {
  return Contest(control, replayer, contestants, settings, observer).run();
}

}  // namespace mergewise
