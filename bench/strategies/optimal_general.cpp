// SPDX-License-Identifier: Apache-2.0
// `optimal` for groups with costs of their own: fronts of prefixes, pruned by bounds on what is
// still to come. Times count from the start of the backward pass (docs/strategies.md).
#include "bench/core/error.hpp"
#include "bench/strategies/optimal.hpp"
#include "bench/strategies/optimal_costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>

namespace mergewise::detail {
namespace {

constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::infinity();
constexpr double kRounding = 1e-13;  // relative: what is not better by more is not looked for
constexpr std::size_t kWiden = 2;
constexpr std::size_t kMostSteps = std::size_t{1} << 30;  // two seconds, about
constexpr std::size_t kStepsPerGroup = 8;                 // what working out its cost takes

/// Of a prefix under some plan: its packing and compression so far; these with its unpacking; when
/// its last group has arrived; and when that would be unpacked if only arrivals held unpacking up.
/// Of a rest under some plan: how long after each of the four the iteration ends at the earliest.
struct Times {
  Nanoseconds packed = 0;
  Nanoseconds worked = 0;
  Nanoseconds sent = 0;
  Nanoseconds done = 0;
};

constexpr Times kLatest{kNever, kNever, kNever, kNever};

/// Nowhere later. Sums and maxima keep that order, rounded or not: whatever follows, `a` then ends
/// no later than `b`.
bool covers(const Times& a, const Times& b) {
  return a.packed <= b.packed && a.worked <= b.worked && a.sent <= b.sent && a.done <= b.done;
}

Times least(const Times& a, const Times& b) {
  return {std::min(a.packed, b.packed), std::min(a.worked, b.worked), std::min(a.sent, b.sent),
          std::min(a.done, b.done)};
}

Nanoseconds end_of(const Times& prefix, const Times& rest) {
  return std::max(std::max(prefix.packed + rest.packed, prefix.worked + rest.worked),
                  std::max(prefix.sent + rest.sent, prefix.done + rest.done));
}

/// The prefix and one group more, which is ready at `ready` at the earliest.
Times with_group(const Times& prefix, const GroupCost& group, Nanoseconds ready) {
  Times next;
  next.packed = prefix.packed + group.before;
  next.worked = prefix.worked + group.before + group.after;
  next.sent = std::max(prefix.sent, ready + next.packed) + group.transfer;
  next.done = std::max(prefix.done, next.sent) + group.after;
  return next;
}

/// The rest with one group before it.
Times with_group_first(const Times& rest, const GroupCost& group, Nanoseconds ready) {
  const Nanoseconds arrived = std::max(rest.sent, group.after + rest.done);
  Times whole;
  whole.packed = group.before + std::max(rest.packed, ready + group.transfer + arrived);
  whole.worked = group.before + group.after + rest.worked;
  whole.sent = group.transfer + arrived;
  whole.done = group.after + rest.done;
  return whole;
}

/// A plan of a prefix: its last group goes back to another prefix's point.
struct Point {
  Times times;
  Nanoseconds bound = 0;  ///< no plan that begins so ends earlier
  std::uint32_t border = 0;
  std::uint32_t point = 0;
};

const Times& times_of(const Times& times) { return times; }
const Times& times_of(const Point& point) { return point.times; }

/// Adds `point` unless another covers it, and takes out those that it covers. Returns the number of
/// comparisons.
template <typename P>
std::size_t add(std::vector<P>& front, const P& point) {
  const Times& times = times_of(point);
  for (std::size_t k = 0; k < front.size(); ++k) {
    if (!covers(times_of(front[k]), times)) continue;
    std::swap(front[k], front[k / 2]);  // who covers one often covers the next
    return k + 1;
  }
  const std::size_t steps = 2 * front.size() + 1;
  for (std::size_t k = 0; k < front.size();) {
    if (covers(times, times_of(front[k]))) {
      front[k] = front.back();
      front.pop_back();
    } else {
      ++k;
    }
  }
  front.push_back(point);
  return steps;
}

Nanoseconds distance(const Times& a, const Times& b) {
  return std::max(std::max(std::abs(a.packed - b.packed), std::abs(a.worked - b.worked)),
                  std::max(std::abs(a.sent - b.sent), std::abs(a.done - b.done)));
}

/// Leaves at most `keep` points that cover all there were, by joining the nearest neighbours.
void relax(std::vector<Times>& front, std::size_t keep) {
  if (front.size() <= keep) return;
  std::sort(front.begin(), front.end(),
            [](const Times& a, const Times& b) { return a.sent < b.sent; });
  while (front.size() > keep) {
    std::size_t nearest = 0;
    Nanoseconds shortest = kNever;
    for (std::size_t k = 0; k + 1 < front.size(); ++k) {
      const Nanoseconds here = distance(front[k], front[k + 1]);
      if (here < shortest) {
        shortest = here;
        nearest = k;
      }
    }
    front[nearest] = least(front[nearest], front[nearest + 1]);
    front.erase(front.begin() + static_cast<std::ptrdiff_t>(nearest) + 1);
  }
}

/// Alternates between bounds on what follows each prefix and fronts of prefixes, both with few
/// points at first. Fronts that had to drop points still give a plan, whose time prunes both;
/// bounds that had to join points are still bounds. Ends when the two meet, or nothing was dropped.
class Search {
 public:
  explicit Search(const TimeModel& model);
  [[nodiscard]] std::vector<std::size_t> best_ends();

 private:
  [[nodiscard]] Nanoseconds cutoff() const { return best_ * (1 - kRounding); }
  void find_earliest();
  void bound_rests(std::size_t keep);
  void bound_rests_from(std::size_t j, std::size_t keep);
  [[nodiscard]] Nanoseconds bound(const Times& prefix, std::size_t i) const;
  [[nodiscard]] bool extend_prefixes(std::size_t keep);
  void extend(std::size_t j, std::size_t keep);
  void try_point(const Point& candidate, std::size_t i, std::size_t keep);
  void shorten(std::vector<Point>& front, std::size_t keep);
  void take(const Point& point);
  void spend(std::size_t steps);
  void spend_on_all_groups();

  const TimeModel& model_;
  GroupCosts costs_;
  std::vector<Times> earliest_;             // nowhere later than any plan of a prefix
  std::vector<std::vector<Times>> rests_;   // some covers every rest that may still be good
  std::vector<Times> least_rest_;           // covers them all
  std::vector<std::vector<Point>> fronts_;  // of prefixes but the whole
  bool cut_ = false;                        // a point that could have been good was left out
  Nanoseconds best_ = kNever;
  std::vector<std::size_t> best_ends_;
  std::size_t steps_ = 0;
};

Search::Search(const TimeModel& model) : model_(model), costs_(model) {
  spend_on_all_groups();  // too many tensors are refused before anything is laid out for them
  const std::size_t n = costs_.count();
  earliest_.assign(n + 1, kLatest);
  rests_.resize(n + 1);
  least_rest_.assign(n + 1, kLatest);
  fronts_.resize(n);
}

std::vector<std::size_t> Search::best_ends() {
  if (costs_.count() == 0) return {model_.tensor_count()};
  find_earliest();
  for (std::size_t keep = 1;; keep *= kWiden) {
    bound_rests(keep);
    if (bound({}, 0) >= cutoff()) break;
    // Points are cheaper than rests.
    if (extend_prefixes(keep * keep)) break;
  }
  // Only times beyond a double's range end no earlier than never.
  if (best_ends_.empty()) best_ends_.push_back(costs_.borders().back());
  if (best_ends_.back() < model_.tensor_count()) best_ends_.push_back(model_.tensor_count());
  return best_ends_;
}

void Search::find_earliest() {
  earliest_[0] = {};
  for (std::size_t j = 0; j < costs_.count(); ++j) {
    const std::vector<GroupCost>& row = costs_.row(j);
    for (std::size_t i = j + 1; i <= costs_.count(); ++i) {
      earliest_[i] = least(earliest_[i], with_group(earliest_[j], row[i - j - 1], costs_.ready(i)));
    }
  }
}

void Search::bound_rests(std::size_t keep) {
  spend_on_all_groups();
  const std::size_t n = costs_.count();
  rests_[n] = {{costs_.ready_last(), costs_.ready_last(), 0, 0}};
  least_rest_[n] = rests_[n].front();
  for (std::size_t j = n; j-- > 0;) bound_rests_from(j, keep);
}

void Search::bound_rests_from(std::size_t j, std::size_t keep) {
  const std::vector<GroupCost>& row = costs_.row(j);
  std::vector<Times>& rests = rests_[j];
  rests.clear();
  for (std::size_t i = costs_.count(); i > j; --i) {
    const GroupCost& group = row[i - j - 1];
    spend(rests_[i].size());
    for (const Times& rest : rests_[i]) {
      const Times whole = with_group_first(rest, group, costs_.ready(i));
      if (end_of(earliest_[j], whole) >= cutoff()) continue;
      spend(add(rests, whole));
      if (rests.size() >= 4 * keep + 8) relax(rests, keep);
    }
  }
  relax(rests, keep);
  least_rest_[j] = kLatest;
  for (const Times& rest : rests) least_rest_[j] = least(least_rest_[j], rest);
}

Nanoseconds Search::bound(const Times& prefix, std::size_t i) const {
  Nanoseconds end = kNever;
  for (const Times& rest : rests_[i]) end = std::min(end, end_of(prefix, rest));
  return end;
}

bool Search::extend_prefixes(std::size_t keep) {
  spend_on_all_groups();
  for (std::vector<Point>& front : fronts_) front.clear();
  cut_ = false;
  fronts_[0].push_back({});
  for (std::size_t j = 0; j < costs_.count(); ++j) {
    shorten(fronts_[j], keep);
    if (!fronts_[j].empty()) extend(j, keep);
  }
  return !cut_;
}

void Search::extend(std::size_t j, std::size_t keep) {
  const std::vector<GroupCost>& row = costs_.row(j);
  const std::vector<Point>& front = fronts_[j];
  Times earliest = kLatest;
  for (const Point& point : front) earliest = least(earliest, point.times);
  for (std::size_t i = j + 1; i <= costs_.count(); ++i) {
    const GroupCost& group = row[i - j - 1];
    const Nanoseconds ready = costs_.ready(i);
    if (end_of(with_group(earliest, group, ready), least_rest_[i]) >= cutoff()) continue;
    for (std::size_t k = 0; k < front.size(); ++k) {
      try_point({with_group(front[k].times, group, ready), 0, static_cast<std::uint32_t>(j),
                 static_cast<std::uint32_t>(k)},
                i, keep);
    }
  }
}

void Search::try_point(const Point& candidate, std::size_t i, std::size_t keep) {
  Point point = candidate;
  if (end_of(point.times, least_rest_[i]) >= cutoff()) return;
  spend(rests_[i].size());
  point.bound = bound(point.times, i);
  if (point.bound >= cutoff()) return;
  if (i == costs_.count()) {
    take(point);
    return;
  }
  std::vector<Point>& front = fronts_[i];
  spend(add(front, point));
  if (front.size() >= 4 * keep + 16) shorten(front, keep);
}

void Search::shorten(std::vector<Point>& front, std::size_t keep) {
  std::sort(front.begin(), front.end(), [](const Point& a, const Point& b) {
    return std::tie(a.bound, a.border, a.point) < std::tie(b.bound, b.border, b.point);
  });
  if (front.size() <= keep) return;
  front.resize(keep);
  cut_ = true;
}

void Search::take(const Point& point) {
  best_ = point.bound;
  best_ends_.clear();
  const Point* last = &point;
  for (std::size_t i = costs_.count(); i > 0;) {
    best_ends_.push_back(costs_.borders()[i]);
    i = last->border;
    last = &fronts_[i][last->point];
  }
  std::reverse(best_ends_.begin(), best_ends_.end());
}

void Search::spend(std::size_t steps) {
  steps_ += steps;
  if (steps_ <= kMostSteps) return;
  throw UnsupportedError(fmt::format(
      "strategy 'optimal': the optimum of profile '{}' is not proven within the limit "
      "of {} steps: fewer tensors ('unit: layer') or smoother tables of costs need less",
      model_.name(), kMostSteps));
}

void Search::spend_on_all_groups() {
  spend(kStepsPerGroup * (costs_.count() * (costs_.count() + 1) / 2));
}

}  // namespace

std::vector<std::size_t> optimal_ends_general(const TimeModel& model) {
  return Search(model).best_ends();
}

}  // namespace mergewise::detail
