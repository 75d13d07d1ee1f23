// SPDX-License-Identifier: Apache-2.0
#include "bench/replay/contest.hpp"

#include "bench/core/error.hpp"
#include "bench/core/median.hpp"
#include "bench/replay/exchange.hpp"
#include "bench/replay/lockstep.hpp"
#include "bench/replay/spans.hpp"
#include "bench/stats/random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace mergewise {
namespace {

// The first one starts from a barrier and is left out.
constexpr int kSpanIterations = 4;

class Contest {
 public:
  Contest(ControlPlane& control, Replayer* replayer, const std::vector<Contestant>& contestants,
          const ContestSettings& settings, const ContestObserver& observer)
      : ranks_(control, replayer, settings.finish_by, settings.stop_requested),
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
    for (std::size_t i = 0; i < contestants_.size() && !ranks_.interrupted(); ++i) verify(i);
    if (!ranks_.interrupted()) measure_compute_alone();
    for (std::size_t i = 0; i < contestants_.size() && !ranks_.interrupted(); ++i) warm_up(i);
    measure();
    for (std::size_t i = 0; i < contestants_.size() && !ranks_.interrupted(); ++i) record_spans(i);
    for (std::size_t i = 0; i < contestants_.size(); ++i) count_messages(i);
    result_.interrupted = ranks_.interrupted();
    return std::move(result_);
  }

 private:
  // Blocks are cut to the limit.
  [[nodiscard]] int block_for(std::size_t i) const {
    if (settings_.block_limit_ns <= 0 || estimates_[i] <= 0) return settings_.block;
    return block_that_fits(settings_.block_limit_ns / estimates_[i], settings_.block);
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
    return ranks_.remaining() >= block_time(i) + (first ? 0 : reserve());
  }

  void report(std::size_t i, const char* phase, Nanoseconds time_left) {
    if (!observer_) return;
    result_.interrupted = ranks_.interrupted();
    observer_({i, phase, std::min(time_left, std::max(ranks_.remaining(), 0.0))}, result_);
  }

  void set_phase(std::size_t i, const char* phase) {
    ranks_.control().set_phase(fmt::format("{}, {}", contestants_[i].label, phase));
  }

  void compare_hashes() {
    std::vector<std::uint64_t> hashes;
    std::vector<std::string> labels;
    for (const Contestant& contestant : contestants_) {
      hashes.push_back(contestant.hash);
      labels.push_back(contestant.label);
    }
    ranks_.compare_hashes(hashes, labels);
  }

  void prepare() {
    plans_.resize(contestants_.size());
    if (ranks_.replayer() == nullptr) return;
    alone_ = ranks_.replayer()->prepare_compute_alone();
    for (std::size_t i = 0; i < contestants_.size(); ++i) {
      plans_[i] = ranks_.replayer()->prepare(contestants_[i].plan);
    }
  }

  // One iteration with known gradients; its length is the first estimate. A wrong sum fails the
  // contestant on all ranks.
  void verify(std::size_t i) {
    set_phase(i, "verifying");
    const std::string& before = contestants_[i].failure;
    const Lockstep::Verified verified =
        before.empty() ? ranks_.verify(plans_[i]) : Lockstep::Verified{0, before};
    result_.contestants[i].verified = verified.failure.empty();
    result_.contestants[i].failure = verified.failure;
    // A wrong one takes no further part.
    estimates_[i] = verified.failure.empty() ? verified.time_ns : 0;
    report(i, "verifying", ranks_.remaining());
  }

  void measure_compute_alone() {
    ranks_.control().set_phase(fmt::format("{}, compute alone", settings_.title));
    (void)ranks_.run_block(alone_, 1);
    result_.compute_alone_ns = ranks_.run_block(alone_, settings_.block);
  }

  void warm_up(std::size_t i) {
    ContestantResult& result = result_.contestants[i];
    if (!result.verified) return;
    set_phase(i, "warming up");
    std::vector<double> medians;
    Warmup verdict = Warmup::kGoOn;
    while (verdict == Warmup::kGoOn && !ranks_.interrupted() &&
           ranks_.remaining() >= block_time(i) + reserve()) {
      const auto block = ranks_.run_block(plans_[i], block_for(i));
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
    while (!active.empty() && !ranks_.interrupted()) {
      shuffle(active, random_);
      for (const std::size_t i : active) {
        if (ranks_.interrupted()) break;
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
    const auto block = ranks_.run_block(plans_[i], std::min(block_for(i), wanted));
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
    if (result.samples_ns.empty() || ranks_.remaining() < span_time(i)) return;
    set_phase(i, "recording spans");
    RankStamps mine{ranks_.control().rank(), ranks_.control().sample_clock(), {}, {}};
    ranks_.control().barrier();
    if (ranks_.replayer() != nullptr) {
      mine.iterations = ranks_.replayer()->run_with_spans(plans_[i], kSpanIterations);
    }
    mine.after = ranks_.control().sample_clock();
    std::vector<RankStamps> ranks;
    for (const std::string& bytes :
         ranks_.exchange(ranks_.replayer() != nullptr ? encode(mine) : std::string())) {
      if (!bytes.empty()) ranks.push_back(decode(bytes));
    }
    SpanSummary summary = summarize_spans(ranks);
    summary.breakdown.observer_ns = median(summary.iterations_ns) - median(result.samples_ns);
    result.breakdown = summary.breakdown;
    if (ranks_.control().rank() == 0) result.spans = std::move(summary.spans);
    report(i, "recording spans", time_left());
  }

  // Ranks that take no part have none.
  void count_messages(std::size_t i) {
    std::vector<std::uint64_t> mine;
    if (plans_[i].messages) {
      const MessageTotals& own = plans_[i].messages->totals;
      mine = {static_cast<std::uint64_t>(own.iterations), own.bytes, own.nans, own.infinities};
    }
    for (const std::string& bytes : ranks_.control().all_gather(to_bytes(mine))) {
      const auto theirs = from_bytes<std::uint64_t>(bytes);
      if (theirs.empty()) continue;
      if (!result_.contestants[i].messages) result_.contestants[i].messages.emplace();
      MessageTotals& all = *result_.contestants[i].messages;
      all.iterations = static_cast<std::int64_t>(theirs[0]);
      all.bytes += theirs[1];
      all.nans += theirs[2];
      all.infinities += theirs[3];
    }
  }

  Lockstep ranks_;
  const std::vector<Contestant>& contestants_;
  const ContestSettings& settings_;
  const ContestObserver& observer_;
  SplitMix64 random_;
  std::vector<Nanoseconds> estimates_;  // of one iteration, by contestant; 0: out of the race
  std::vector<PreparedPlan> plans_;
  PreparedPlan alone_;
  ContestResult result_;
};

}  // namespace

ContestResult run_contest(ControlPlane& control, Replayer* replayer,
                          const std::vector<Contestant>& contestants,
                          const ContestSettings& settings, const ContestObserver& observer) {
  return Contest(control, replayer, contestants, settings, observer).run();
}

}  // namespace mergewise
