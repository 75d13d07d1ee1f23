// SPDX-License-Identifier: Apache-2.0
// One border by bisection, more by ternary search and coordinate descent, over whatever the
// evaluator says an iteration takes.
#include "bench/strategies/mergecomp.hpp"

#include "bench/strategies/explain.hpp"

#include <algorithm>
#include <limits>
#include <map>

namespace mergewise {
namespace {

using Ends = std::vector<std::size_t>;

struct Candidate {
  Ends ends;
  Nanoseconds time = 0;
};

/// Plans of the same tensors by their ends; each is asked for once.
class Probes {
 public:
  explicit Probes(PlanEvaluator& evaluator) : evaluator_(evaluator), noise_(evaluator.noise()) {}

  [[nodiscard]] Nanoseconds time(const Ends& ends) {
    const auto known = times_.find(ends);
    if (known != times_.end()) return known->second;
    const Nanoseconds asked = evaluator_.iteration(ends);
    times_.emplace(ends, asked);
    return asked;
  }
  /// A real gain: more than the noise.
  [[nodiscard]] bool better(Nanoseconds time, Nanoseconds than) const {
    return time < than * (1 - noise_);
  }
  /// The same, as far as the noise lets us see, or better.
  [[nodiscard]] bool no_worse(Nanoseconds time, Nanoseconds than) const {
    return time <= than * (1 + noise_);
  }

 private:
  PlanEvaluator& evaluator_;
  double noise_;
  std::map<Ends, Nanoseconds> times_;
};

/// `ends` with one more border (which is not among them).
Ends with_border(Ends ends, std::size_t border) {
  ends.insert(std::lower_bound(ends.begin(), ends.end(), border), border);
  return ends;
}

/// The best plan that bisection comes by: of mid and mid + 1 units, it goes on where the faster one
/// is. `base` has no border yet.
Candidate bisect(Probes& probes, const Ends& base) {
  std::size_t low = 1;
  std::size_t high = base.back() - 1;
  Candidate best{base, std::numeric_limits<double>::infinity()};
  const auto probe = [&](std::size_t border) {
    Ends ends = with_border(base, border);
    const Nanoseconds time = probes.time(ends);
    if (time < best.time) best = {std::move(ends), time};
    return time;
  };
  if (low == high) probe(low);
  while (low < high) {
    const std::size_t mid = low + (high - low) / 2;
    if (probe(mid) > probe(mid + 1)) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  return best;
}

/// The best plan that ternary search comes by with one more border in [low, high]. Where two probes
/// are equal it goes on between them: the middle of a plateau leaves the other borders most room.
Candidate ternary(Probes& probes, const Ends& base, std::size_t low, std::size_t high) {
  Candidate best{base, std::numeric_limits<double>::infinity()};
  Nanoseconds least = best.time;
  const auto probe = [&](std::size_t border) {
    Ends ends = with_border(base, border);
    const Nanoseconds time = probes.time(ends);
    least = std::min(least, time);
    if (probes.no_worse(time, least)) best = {std::move(ends), time};
    return time;
  };
  while (high - low >= 2) {
    const std::size_t third = std::max<std::size_t>(1, (high - low) / 3);
    const std::size_t left = low + third;
    const std::size_t right = std::max(left + 1, high - third);
    const Nanoseconds left_time = probe(left);
    const Nanoseconds right_time = probe(right);
    const bool left_fits = probes.no_worse(left_time, right_time);
    const bool right_fits = probes.no_worse(right_time, left_time);
    if (right_fits) low = left_fits ? left : left + 1;
    if (left_fits) high = right_fits ? right : right - 1;
    if (right - left == 1 && left_fits && right_fits) return best;
  }
  for (std::size_t border = low; border <= high; ++border) probe(border);
  return best;
}

/// One more border in each group of more than one unit, in turn, while there are fewer than
/// `most`; a border that costs time is not kept.
Candidate split_groups(Probes& probes, Candidate current, std::size_t most) {
  const Ends ends = current.ends;
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    if (end - begin >= 2 && current.ends.size() < most) {
      Candidate split = ternary(probes, current.ends, begin + 1, end - 1);
      if (probes.no_worse(split.time, current.time)) current = std::move(split);
    }
    begin = end;
  }
  return current;
}

/// One pass over all borders: each moves to the best place between its neighbours.
Candidate descend(Probes& probes, Candidate current) {
  for (std::size_t i = 0; i + 1 < current.ends.size(); ++i) {
    const std::size_t low = i == 0 ? 1 : current.ends[i - 1] + 1;
    const std::size_t high = current.ends[i + 1] - 1;
    Ends others = current.ends;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    Candidate moved = ternary(probes, others, low, high);
    if (probes.no_worse(moved.time, current.time)) current = std::move(moved);
  }
  return current;
}

Ends best_borders(PlanEvaluator& evaluator, std::size_t units, std::size_t max_groups,
                  double min_gain) {
  Probes probes(evaluator);
  Candidate best{{units}, 0};
  if (units == 1 || max_groups == 1) return best.ends;
  best.time = probes.time(best.ends);
  Candidate current = bisect(probes, best.ends);
  if (!probes.better(current.time, best.time)) return best.ends;
  best = current;
  while (current.ends.size() < max_groups) {
    const std::size_t groups = current.ends.size();
    current = descend(probes, split_groups(probes, std::move(current), max_groups));
    const Nanoseconds before = best.time;
    if (probes.better(current.time, best.time)) best = current;
    if (current.ends.size() == groups || best.time > before * (1 - min_gain)) break;
  }
  return best.ends;
}

}  // namespace

std::vector<OptionSpec> Mergecomp::do_options() const {
  return {{.name = "max_groups",
           .kind = OptionKind::kInteger,
           .summary = "at most so many groups; the paper's search is that for 2",
           .default_value = std::int64_t{2},
           .minimum = 1,
           .choices = {}},
          {.name = "min_gain",
           .kind = OptionKind::kNumber,
           .summary = "with max_groups > 2: end once more groups shorten the iteration by less "
                      "than this fraction",
           .default_value = 0.05,
           .maximum = 1,
           .choices = {}}};
}

MergePlan Mergecomp::do_plan(const Task& task) const {
  const TimeModel& model = task.model;
  const Ends ends = best_borders(task.evaluator, model.tensor_count(),
                                 static_cast<std::size_t>(task.options.integer("max_groups")),
                                 task.options.number("min_gain"));
  if (task.decisions != nullptr) *task.decisions = explain_by_toggling(model, ends);
  return plan_from_ends(id(), ends, model.collective());
}

}  // namespace mergewise
