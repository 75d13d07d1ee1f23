// SPDX-License-Identifier: Apache-2.0
// The merge plan: which tensors travel together, by which collective, in which order and not before
// when.
#pragma once

#include "bench/core/units.hpp"
#include "bench/cost/wire.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace mergewise {

/// Released as soon as the group's last tensor is ready.
struct WhenReady {
  friend bool operator==(const WhenReady&, const WhenReady&) = default;
};
/// Released when ready, but before this layer's next forward pass must have it (all-gathers of
/// `dear`).
struct BeforeForward {
  std::size_t layer = 0;
  friend bool operator==(const BeforeForward&, const BeforeForward&) = default;
};
/// Released when ready, but not before this time after the start of the backward pass (cycles of
/// `horovod`).
struct NotBefore {
  Nanoseconds after_backward_start = 0;
  friend bool operator==(const NotBefore&, const NotBefore&) = default;
};
using Release = std::variant<WhenReady, BeforeForward, NotBefore>;

/// Tensors [begin, end) in ready order, communicated together.
struct Group {
  std::size_t begin = 0;
  std::size_t end = 0;
  Collective collective = Collective::kAllReduce;
  Release release;
  friend bool operator==(const Group&, const Group&) = default;
};

/// Groups in the order in which the communication stream sends them. A value; check() before use.
struct MergePlan {
  std::string strategy;
  std::vector<Group> groups;

  /// How many tensors are covered at the end of each group: the short form that people read and
  /// files show.
  [[nodiscard]] std::vector<std::size_t> ends() const;
  friend bool operator==(const MergePlan&, const MergePlan&) = default;
};

/// A plan of when-ready groups that end after these tensor counts.
[[nodiscard]] MergePlan plan_from_ends(std::string strategy, const std::vector<std::size_t>& ends,
                                       Collective collective = Collective::kAllReduce);

/// Throws InputError, naming the group, unless every tensor of 0..tensor_count-1 is covered exactly
/// once per phase (all groups of one collective), in order, by non-empty groups.
void check(const MergePlan& plan, std::size_t tensor_count);

/// A 64-bit FNV-1a hash over the plan, the tensors' sizes and the compressor: what ranks compare
/// before iterating.
[[nodiscard]] std::uint64_t hash(const MergePlan& plan, const std::vector<Bytes>& tensor_bytes,
                                 const WireFormat& wire);

inline constexpr const char* kPlanSchema = "mergewise/plan/1";
[[nodiscard]] nlohmann::json to_json(const MergePlan& plan);

}  // namespace mergewise
