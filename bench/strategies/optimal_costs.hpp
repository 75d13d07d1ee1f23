// SPDX-License-Identifier: Apache-2.0
// What `optimal` asks the time model for, over and over: the costs of every group, by rows.
#pragma once

#include "bench/plan/time_model.hpp"

#include <cstddef>
#include <vector>

namespace mergewise::detail {

/// How many tensors are covered where each tensor that has bytes ends, after a 0 for none: the only
/// borders of a plan that matter. Empty tensors cost nothing, so they are best sent with the next
/// tensor that has bytes; trailing ones can be a last group of their own.
[[nodiscard]] std::vector<std::size_t> borders_of(const TimeModel& model);

struct GroupCost {
  Nanoseconds before;    ///< p + c
  Nanoseconds transfer;  ///< T
  Nanoseconds after;     ///< d + q + u
};

/// Costs of the groups between these borders, numbered 0..n. Keeps them all where they fit into
/// 50 MB, else one row at a time.
class GroupCosts {
 public:
  explicit GroupCosts(const TimeModel& model);

  [[nodiscard]] std::size_t count() const { return borders_.size() - 1; }  ///< n
  [[nodiscard]] const std::vector<std::size_t>& borders() const { return borders_; }
  /// R at border i >= 1.
  [[nodiscard]] Nanoseconds ready(std::size_t i) const { return model_.ready(borders_[i] - 1); }
  /// When the backward work ends, with that of trailing empty tensors.
  [[nodiscard]] Nanoseconds ready_last() const { return model_.ready(model_.tensor_count() - 1); }
  /// The groups from border j to j + 1, j + 2, ..., n; until the next call.
  [[nodiscard]] const std::vector<GroupCost>& row(std::size_t j);

 private:
  void fill(std::size_t j, std::vector<GroupCost>& row) const;

  const TimeModel& model_;
  std::vector<std::size_t> borders_;
  std::vector<std::vector<GroupCost>> rows_;  // one for each j, or a single one
};

}  // namespace mergewise::detail
