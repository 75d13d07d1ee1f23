// SPDX-License-Identifier: Apache-2.0
// All caps that give plans of their own, in the model; the best few again by the evaluator.
#include "bench/strategies/tuned.hpp"

#include "bench/plan/timeline.hpp"
#include "bench/strategies/ddp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace mergewise {
namespace {

constexpr std::size_t kConfirmed = 3;
constexpr double kGridStep = 1.1;

struct Trial {
  Bytes cap = 0;
  Nanoseconds time = 0;
};

/// Where the bucket that begins at `begin` ends: once it has reached the cap.
std::size_t end_of_bucket(const TimeModel& model, std::size_t begin, Bytes cap) {
  std::size_t low = begin + 1;
  std::size_t high = model.tensor_count();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (model.bytes(begin, middle) >= cap) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/// The plan of a cap; keeps the memory of `plan`.
void make_plan(const TimeModel& model, Bytes cap, MergePlan& plan) {
  plan.groups.clear();
  for (std::size_t begin = 0; begin < model.tensor_count();) {
    const std::size_t end = end_of_bucket(model, begin, cap);
    plan.groups.push_back({begin, end, model.collective(), WhenReady{}});
    begin = end;
  }
}

/// The least cap that gives another plan: one byte more than the smallest bucket that was closed.
/// The last one ends with the tensors, whatever the cap.
Bytes next_cap(const TimeModel& model, const MergePlan& plan) {
  Bytes smallest = kMostBytes;
  for (std::size_t i = 0; i + 1 < plan.groups.size(); ++i) {
    smallest = std::min(smallest, model.bytes(plan.groups[i].begin, plan.groups[i].end));
  }
  return smallest + 1;
}

/// The best caps in the model, the best first; of equally good ones the largest, which makes the
/// fewest groups. `tried` counts all.
std::vector<Trial> best_caps(const TimeModel& model, MergePlan& plan, std::size_t& tried) {
  const double step = model.tensor_count() > kManyTensors ? kGridStep : 1;
  std::vector<Trial> best;
  for (Bytes cap = 0;;) {
    make_plan(model, cap, plan);
    ++tried;
    const Trial trial{cap, predict_iteration(model, plan)};
    const auto place = std::find_if(best.begin(), best.end(),
                                    [&](const Trial& other) { return other.time >= trial.time; });
    if (place != best.end() || best.size() < kConfirmed) best.insert(place, trial);
    if (best.size() > kConfirmed) best.pop_back();
    if (plan.groups.size() == 1) return best;
    cap = std::max(next_cap(model, plan), static_cast<Bytes>(static_cast<double>(cap) * step));
  }
}

}  // namespace

MergePlan Tuned::do_plan(const Task& task) const {
  const TimeModel& model = task.model;
  MergePlan plan{.strategy = id(), .groups = {}, .chunking = {}};
  std::size_t tried = 0;
  const std::vector<Trial> best = best_caps(model, plan, tried);
  Trial winner;
  for (const Trial& trial : best) {
    make_plan(model, trial.cap, plan);
    const Nanoseconds time = task.evaluator.iteration(plan.ends());
    const bool better = time < winner.time * (1 - task.evaluator.noise());
    if (trial.cap == best.front().cap || better) winner = {trial.cap, time};
  }
  make_plan(model, winner.cap, plan);
  if (task.decisions != nullptr) {
    const std::string name = fmt::format("the best of {} caps", tried);
    Bytes bucket = 0;
    for (std::size_t next = 1; next < model.tensor_count(); ++next) {
      bucket += model.bytes(next - 1);
      task.decisions->push_back(detail::by_cap(next, bucket, winner.cap, name));
      if (!task.decisions->back().merged) bucket = 0;
    }
  }
  return plan;
}

}  // namespace mergewise
