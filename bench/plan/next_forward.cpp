// SPDX-License-Identifier: Apache-2.0
// A backward pass, the communication it starts, and the next forward pass, each layer of which
// waits for its gradients.
#include "bench/plan/next_forward.hpp"

#include "bench/core/error.hpp"
#include "bench/plan/production.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace mergewise {
namespace {

// One pass over one period is the steady state. The last layer's forward pass ends after every
// group has arrived, since each group carries tensors of some layer and each layer waits for the
// groups that carry its own. So both lanes are idle when the next backward pass starts, nothing is
// in flight, and every period is like this one.
class NextForward {
 public:
  NextForward(const TimeModel& model, const MergePlan& plan, const SpanSink& sink)
      : model_(model),
        plan_(plan),
        sink_(sink),
        backward_start_(model.accumulating()),
        compute_end_(backward_start_),
        ready_(plan.groups.size(), backward_start_),
        arrived_(plan.groups.size()),
        forward_begin_(plan.groups.size()) {
    const std::string who = fmt::format("the '{}' plan", plan.strategy);
    model.require_dense(who);
    for (const Group& group : plan.groups) {
      model.require_cost(group.collective, who);
      if (group.collective == Collective::kAllGather) ranks_ = model.require_ranks(who);
    }
  }

  Nanoseconds run() {
    backward();
    if (plan_.chunking) {
      arrived_ = send_chunks(model_, plan_, ready_, sink_);
      to_send_ = plan_.groups.size();
    }
    forward();
    return compute_end_;
  }

 private:
  /// The groups [first, last) of one collective, which go in ready order or in forward order.
  struct Phase {
    std::size_t first;
    std::size_t last;
    bool in_ready_order;
    [[nodiscard]] std::size_t count() const { return last - first; }
    /// The i-th group in ready order, and the i-th that a forward pass needs.
    [[nodiscard]] std::size_t ready(std::size_t i) const {
      return in_ready_order ? first + i : last - 1 - i;
    }
    [[nodiscard]] std::size_t needed(std::size_t i) const { return ready(count() - 1 - i); }
  };

  [[nodiscard]] Phase phase_of(std::size_t index) const {
    const std::vector<Group>& groups = plan_.groups;
    std::size_t first = index;
    std::size_t last = index + 1;
    const auto same = [&](std::size_t other) {
      return groups[other].collective == groups[index].collective;
    };
    while (first > 0 && same(first - 1)) --first;
    while (last < groups.size() && same(last)) ++last;
    return {first, last, groups[first].begin == 0};
  }

  /// The backward pass, with packing, under the groups of the first phase.
  void backward() {
    const Phase phase = phase_of(0);
    Production production(model_, backward_start_);
    for (std::size_t i = 0; i < phase.count(); ++i) {
      const std::size_t index = phase.ready(i);
      ready_[index] = compute_end_ = production.add(plan_.groups[index], index, sink_);
    }
  }

  /// The forward pass from the last layer, whose gradient is ready last, to the first.
  void forward() {
    const Phase phase = phase_of(plan_.groups.size() - 1);
    const std::vector<std::size_t>& layer_ends = model_.layer_ends();
    std::size_t waited = 0;  // groups of this phase that layers have waited for
    const auto waits = [&](std::size_t layer) {
      const std::size_t begin = layer == 0 ? 0 : layer_ends[layer - 1];
      return waited < phase.count() && plan_.groups[phase.needed(waited)].end > begin;
    };
    std::size_t tensor = model_.tensor_count();
    for (std::size_t layer = layer_ends.size(); layer > 0;) {
      const std::size_t waited_before = waited;
      for (; waits(layer - 1); ++waited) receive(phase.needed(waited));
      const Nanoseconds begin = compute_end_;
      for (std::size_t i = waited_before; i < waited; ++i) forward_begin_[phase.needed(i)] = begin;
      do {  // this layer and those behind it that wait for nothing else
        --layer;
        const std::size_t end = layer == 0 ? 0 : layer_ends[layer - 1];
        while (tensor > end) compute_end_ += model_.forward(--tensor);
      } while (layer > 0 && !waits(layer - 1));
      sink_(Activity::kForward, phase.needed(waited - 1), begin, compute_end_,
            compute_end_ - begin);
    }
  }

  /// Waits for the group on the compute lane and unpacks it.
  void receive(std::size_t index) {
    for (; to_send_ <= index; ++to_send_) send(to_send_);
    const Group& group = plan_.groups[index];
    const Nanoseconds start = std::max(compute_end_, arrived_[index]);
    const Nanoseconds unpack = model_.after_send(group.begin, group.end);
    compute_end_ = start + unpack;
    sink_(Activity::kUnpack, index, start, compute_end_, unpack);
  }

  void send(std::size_t index) {
    const Nanoseconds start = std::max({sent_, ready_[index], released(index)});
    const Nanoseconds transfer = transfer_time(index);
    sent_ = start + transfer;
    arrived_[index] = sent_;
    sink_(Activity::kTransfer, index, start, sent_, transfer);
  }

  [[nodiscard]] Nanoseconds released(std::size_t index) const {
    const Group& group = plan_.groups[index];
    const auto* before_forward = std::get_if<BeforeForward>(&group.release);
    if (before_forward == nullptr || !before_forward->issued_with) {
      return earliest_start(group, backward_start_);
    }
    const std::size_t other = *before_forward->issued_with;
    if (!forward_begin_[other]) {
      throw InputError(fmt::format(
          "group {} of the '{}' plan is issued with the forward work of group {}, which waits for "
          "it: expected a group that the forward pass needs before it",
          index, plan_.strategy, other));
    }
    return *forward_begin_[other];
  }

  /// An all-gather is given what one rank contributes, the others all bytes of the group.
  [[nodiscard]] Nanoseconds transfer_time(std::size_t index) const {
    const Group& group = plan_.groups[index];
    const Bytes bytes = model_.bytes(group.begin, group.end);
    if (group.collective != Collective::kAllGather) {
      return model_.collective_time(group.collective, bytes);
    }
    return model_.collective_time(group.collective, (bytes + ranks_ - 1) / ranks_);
  }

  const TimeModel& model_;
  const MergePlan& plan_;
  const SpanSink& sink_;
  Bytes ranks_ = 1;
  Nanoseconds backward_start_;
  Nanoseconds compute_end_;  // of the compute lane so far
  Nanoseconds sent_ = 0;     // end of the communication lane so far
  std::size_t to_send_ = 0;  // the first group that is not sent yet
  std::vector<Nanoseconds> ready_;
  std::vector<Nanoseconds> arrived_;
  std::vector<std::optional<Nanoseconds>> forward_begin_;  // of the first layer of each group
};

}  // namespace

bool reaches_next_forward(const MergePlan& plan) { return is_before_forward(plan.groups.back()); }

Nanoseconds walk_next_forward(const TimeModel& model, const MergePlan& plan, const SpanSink& sink) {
  return NextForward(model, plan, sink).run();
}

}  // namespace mergewise
