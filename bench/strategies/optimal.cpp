// SPDX-License-Identifier: Apache-2.0
// f_i = min over j < i of max(f_j, R_i) + T(S_i - S_j), with R the ready times and S the prefix
// sums of bytes of the tensors that have bytes. Times count from the start of the backward pass.
#include "bench/strategies/optimal.hpp"

#include "bench/strategies/explain.hpp"
#include "bench/strategies/optimal_costs.hpp"

namespace mergewise {
namespace {

/// The tensors that have bytes, numbered 1..n; an empty tensor's time is part of the ready time of
/// the next one that has bytes. Holds f and the last group's border of every prefix done so far.
class Prefixes {
 public:
  explicit Prefixes(const TimeModel& model)
      : model_(model), end_(detail::borders_of(model)), sent_(end_.size()), border_(end_.size()) {}

  /// n + 1: with the empty prefix, which was sent at time 0.
  [[nodiscard]] std::size_t size() const { return end_.size(); }
  [[nodiscard]] Nanoseconds ready(std::size_t i) const { return model_.ready(end_[i] - 1); }
  [[nodiscard]] Bytes bytes(std::size_t j, std::size_t i) const {
    return model_.bytes(end_[j], end_[i]);
  }
  [[nodiscard]] Nanoseconds transfer(std::size_t j, std::size_t i) const {
    return model_.transfer(end_[j], end_[i]);
  }
  [[nodiscard]] Bytes bytes(std::size_t i) const { return model_.bytes(0, end_[i]); }
  /// f_i, once settle(i, ...) was called; non-decreasing in i, since T is.
  [[nodiscard]] Nanoseconds sent(std::size_t i) const { return sent_[i]; }
  void settle(std::size_t i, Nanoseconds sent, std::size_t border) {
    sent_[i] = sent;
    border_[i] = border;
  }

  /// How many tensors the groups of the best plan cover, once all prefixes are settled.
  [[nodiscard]] std::vector<std::size_t> ends() const {
    std::vector<std::size_t> ends;
    // Trailing empty tensors are a group of their own: it takes no time and holds back none.
    if (end_.back() < model_.tensor_count()) ends.push_back(model_.tensor_count());
    for (std::size_t i = size() - 1; i > 0; i = border_[i]) ends.push_back(end_[i]);
    return {ends.rbegin(), ends.rend()};
  }

 private:
  const TimeModel& model_;
  std::vector<std::size_t> end_;
  std::vector<Nanoseconds> sent_;
  std::vector<std::size_t> border_;
};

/// Moves `idle` to the largest j < i whose communication has ended when i is ready. Of all such j
/// it is the best (the group starts at R_i anyway, and is smallest); it only moves up.
void advance(std::size_t& idle, const Prefixes& prefixes, std::size_t i, Nanoseconds ready) {
  while (idle + 1 < i && prefixes.sent(idle + 1) <= ready) ++idle;
}

}  // namespace

namespace detail {

std::vector<std::size_t> optimal_ends_linear(const TimeModel& model, const LinearCost& line) {
  Prefixes prefixes(model);
  // The j that are still sending when i is ready cost f_j - b S_j + (a + b S_i): a sliding-window
  // minimum over (idle, i), kept with increasing keys in waiting[head, tail).
  std::vector<std::size_t> waiting(prefixes.size());
  std::size_t head = 0;
  std::size_t tail = 0;
  const auto key = [&](std::size_t j) {
    return prefixes.sent(j) - line.b_ns_per_byte * static_cast<double>(prefixes.bytes(j));
  };
  const auto transfer = [&](std::size_t j, std::size_t i) { return line.at(prefixes.bytes(j, i)); };

  std::size_t idle = 0;
  for (std::size_t i = 1; i < prefixes.size(); ++i) {
    const Nanoseconds ready = prefixes.ready(i);
    advance(idle, prefixes, i, ready);
    while (head < tail && waiting[head] <= idle) ++head;
    std::size_t best = idle;
    Nanoseconds sent = ready + transfer(idle, i);
    if (head < tail) {
      const std::size_t j = waiting[head];
      const Nanoseconds after_j = prefixes.sent(j) + transfer(j, i);
      if (after_j < sent) {
        best = j;
        sent = after_j;
      }
    }
    prefixes.settle(i, sent, best);
    const Nanoseconds new_key = key(i);
    while (head < tail && key(waiting[tail - 1]) > new_key) --tail;
    waiting[tail++] = i;
  }
  return prefixes.ends();
}

std::vector<std::size_t> optimal_ends_any_cost(const TimeModel& model) {
  Prefixes prefixes(model);
  std::size_t idle = 0;
  for (std::size_t i = 1; i < prefixes.size(); ++i) {
    const Nanoseconds ready = prefixes.ready(i);
    advance(idle, prefixes, i, ready);
    std::size_t best = idle;
    Nanoseconds sent = ready + prefixes.transfer(idle, i);
    // Tensor i is in the group whatever j is, and f_j only grows: once that much is too late, so
    // are all further j.
    const Nanoseconds least = prefixes.transfer(i - 1, i);
    for (std::size_t j = idle + 1; j < i && prefixes.sent(j) + least < sent; ++j) {
      const Nanoseconds after_j = prefixes.sent(j) + prefixes.transfer(j, i);
      if (after_j < sent) {
        best = j;
        sent = after_j;
      }
    }
    prefixes.settle(i, sent, best);
  }
  return prefixes.ends();
}

}  // namespace detail

MergePlan Optimal::do_plan(const Task& task) const {
  const TimeModel& model = task.model;
  const LinearCost* line = model.dense_line();
  std::vector<std::size_t> ends;
  if (!model.only_transfers()) {
    ends = detail::optimal_ends_general(model);
  } else if (line != nullptr) {
    ends = detail::optimal_ends_linear(model, *line);
  } else {
    ends = detail::optimal_ends_any_cost(model);
  }
  if (task.decisions != nullptr) *task.decisions = explain_by_toggling(model, ends);
  return plan_from_ends(id(), ends, model.collective());
}

}  // namespace mergewise
