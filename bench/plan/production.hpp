// SPDX-License-Identifier: Apache-2.0
// The compute lane of a backward pass, and what holds back a group that it made ready; a part of
// the timeline, for this folder's walks only.
#pragma once

#include "bench/plan/merge_plan.hpp"
#include "bench/plan/time_model.hpp"
#include "bench/plan/timeline.hpp"

#include <cstddef>
#include <variant>

namespace mergewise {

/// When the group may be sent at the earliest, whatever its tensors and the next forward pass do.
[[nodiscard]] inline Nanoseconds earliest_start(const Group& group, Nanoseconds backward_start) {
  const auto* not_before = std::get_if<NotBefore>(&group.release);
  return not_before == nullptr ? 0 : backward_start + not_before->after_backward_start;
}

/// Group after group in ready order: the backward work that makes its tensors ready, then its
/// packing and compression.
class Production {
 public:
  Production(const TimeModel& model, Nanoseconds backward_start)
      : model_(model), backward_start_(backward_start), end_(backward_start) {}

  /// The next group, whose spans `sink` takes as (activity, index, begin, end, duration). Returns
  /// when it is ready.
  template <typename Sink>
  Nanoseconds add(const Group& group, std::size_t index, Sink&& sink) {
    const Nanoseconds backward_end = backward_start_ + model_.ready(group.end - 1) + before_send_;
    sink(Activity::kBackward, index, end_, backward_end, backward_end - end_);
    const Nanoseconds pack = model_.before_send(group.begin, group.end);
    before_send_ += pack;
    end_ = backward_start_ + model_.ready(group.end - 1) + before_send_;
    sink(Activity::kPack, index, backward_end, end_, pack);
    return end_;
  }

 private:
  const TimeModel& model_;
  Nanoseconds backward_start_;
  Nanoseconds before_send_ = 0;  // sum of p + c so far
  Nanoseconds end_;
};

}  // namespace mergewise
