// SPDX-License-Identifier: Apache-2.0
// Chunks by priority: which part of which gradient the network is given next (after ByteScheduler,
// Peng et al., SOSP 2019, section 4).
#include "bench/core/error.hpp"
#include "bench/plan/next_forward.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>

namespace mergewise {
namespace {

constexpr Bytes kMostChunks = 10'000'000;

/// The chunks of a plan in the order of time: those of ready groups wait, those of the network are
/// in flight until they have arrived.
class Chunks {
 public:
  Chunks(const TimeModel& model, const MergePlan& plan, const std::vector<Nanoseconds>& ready,
         const SpanSink& sink)
      : model_(model), plan_(plan), ready_(ready), sink_(sink), arrived_(ready) {
    Bytes chunks = 0;
    for (const Group& group : plan.groups) {
      left_.push_back(model.bytes(group.begin, group.end));
      const Bytes partition = plan.chunking->partition;
      chunks += left_.back() / partition + (left_.back() % partition > 0 ? 1 : 0);
    }
    if (chunks <= kMostChunks) return;
    throw InputError(fmt::format(
        "the '{}' plan cuts {} gradients into {} chunks of up to {} bytes, expected at "
        "most {} chunks: choose a larger partition",
        plan.strategy, plan.groups.size(), chunks, plan.chunking->partition, kMostChunks));
  }

  std::vector<Nanoseconds> send() {
    for (Nanoseconds now = 0; advance_to(now);) {
      while (may_hand_over()) hand_over(now);
      now = next_event();
    }
    return std::move(arrived_);
  }

 private:
  struct HandedOver {
    Nanoseconds end;
    Bytes bytes;
  };

  /// Takes in what has become ready and what has arrived; false when there is nothing more to send.
  bool advance_to(Nanoseconds now) {
    for (; next_ < ready_.size() && ready_[next_] <= now; ++next_) {
      if (left_[next_] > 0) waiting_.push_back(next_);
    }
    for (; !in_flight_.empty() && in_flight_.front().end <= now; in_flight_.pop_front()) {
      bytes_in_flight_ -= in_flight_.front().bytes;
    }
    return next_ < ready_.size() || !waiting_.empty();
  }

  /// The group that became ready last is needed first, by the layer nearest to the input.
  [[nodiscard]] Bytes next_chunk() const {
    return std::min(plan_.chunking->partition, left_[waiting_.back()]);
  }

  [[nodiscard]] bool may_hand_over() const {
    return !waiting_.empty() &&
           (in_flight_.empty() || bytes_in_flight_ + next_chunk() <= plan_.chunking->credit);
  }

  void hand_over(Nanoseconds now) {
    const std::size_t index = waiting_.back();
    const Bytes chunk = next_chunk();
    const Nanoseconds start = std::max(now, network_free_);
    const Nanoseconds transfer = model_.collective_time(plan_.groups[index].collective, chunk);
    network_free_ = start + transfer;
    sink_(Activity::kTransfer, index, start, network_free_, transfer);
    in_flight_.push_back({network_free_, chunk});
    bytes_in_flight_ += chunk;
    left_[index] -= chunk;
    if (left_[index] > 0) return;
    arrived_[index] = network_free_;
    waiting_.pop_back();
  }

  [[nodiscard]] Nanoseconds next_event() const {
    Nanoseconds next = std::numeric_limits<double>::infinity();
    if (next_ < ready_.size()) next = ready_[next_];
    if (!in_flight_.empty()) next = std::min(next, in_flight_.front().end);
    return next;
  }

  const TimeModel& model_;
  const MergePlan& plan_;
  const std::vector<Nanoseconds>& ready_;
  const SpanSink& sink_;
  std::vector<Nanoseconds> arrived_;  // an empty group when it is ready
  std::vector<Bytes> left_;           // not handed over yet
  std::size_t next_ = 0;              // the first group that is not ready
  std::vector<std::size_t> waiting_;  // ready groups with bytes left, in ready order
  std::deque<HandedOver> in_flight_;
  Bytes bytes_in_flight_ = 0;
  Nanoseconds network_free_ = 0;
};

}  // namespace

std::vector<Nanoseconds> send_chunks(const TimeModel& model, const MergePlan& plan,
                                     const std::vector<Nanoseconds>& ready, const SpanSink& sink) {
  return Chunks(model, plan, ready, sink).send();
}

}  // namespace mergewise
