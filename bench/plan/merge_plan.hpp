// SPDX-License-Identifier: Apache-2.0
// The merge plan: which tensors travel together, by which collective, in which order and not before
// when.
#pragma once

#include "bench/core/units.hpp"
#include "bench/cost/wire.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace mergewise {

class TimeModel;

/// Released as soon as the group's last tensor is ready.
struct WhenReady {
  friend bool operator==(const WhenReady&, const WhenReady&) = default;
};
/// Must have ended before the next forward pass of the layers whose tensors it carries (all-gathers
/// of `dear`, all-reduces of `bytescheduler`).
struct BeforeForward {
  /// Issued when the forward work of this group of the plan (an index into MergePlan::groups, of
  /// the same phase) begins; nothing: as soon as it is ready and the lane is free.
  std::optional<std::size_t> issued_with;
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

/// Sent until the next forward pass, not by the end of the backward pass.
[[nodiscard]] inline bool is_before_forward(const Group& group) {
  return std::holds_alternative<BeforeForward>(group.release);
}

/// Each tensor is cut into chunks that are sent by priority (`bytescheduler`, simulated only).
struct Chunking {
  Bytes partition = 0;  ///< largest chunk, > 0
  Bytes credit = 0;     ///< bytes handed to the network at a time, > 0; one chunk always may
  friend bool operator==(const Chunking&, const Chunking&) = default;
};

/// Groups in the order in which the communication stream sends them. A value; check() before use.
/// The groups of one collective are a phase: all of a phase's groups end before the next phase's
/// first one starts.
struct MergePlan {
  std::string strategy;
  std::vector<Group> groups;
  std::optional<Chunking> chunking;  ///< the order above is then that of ready order only

  /// How many tensors are covered at the end of each group of the first phase: the short form that
  /// people read and files show.
  [[nodiscard]] std::vector<std::size_t> ends() const;
  friend bool operator==(const MergePlan&, const MergePlan&) = default;
};

/// A plan of when-ready groups that end after these tensor counts.
[[nodiscard]] MergePlan plan_from_ends(std::string strategy, const std::vector<std::size_t>& ends,
                                       Collective collective = Collective::kAllReduce);

/// Every group is all-reduced whole as soon as it is ready: what training frameworks can be told to
/// do.
[[nodiscard]] bool is_plain(const MergePlan& plan);

/// Throws InputError, naming the group, unless every tensor of 0..tensor_count-1 is covered exactly
/// once per phase (all groups of one collective), in order, by non-empty groups.
void check(const MergePlan& plan, std::size_t tensor_count);

/// A 64-bit FNV-1a hash over the plan, the tensors' sizes and the compressor: what ranks compare
/// before iterating.
[[nodiscard]] std::uint64_t hash(const MergePlan& plan, const std::vector<Bytes>& tensor_bytes,
                                 const WireFormat& wire);
/// Of a plan for the model's tensors and compressor.
[[nodiscard]] std::uint64_t hash(const MergePlan& plan, const TimeModel& model);

inline constexpr const char* kPlanSchema = "mergewise/plan/1";
[[nodiscard]] nlohmann::json to_json(const MergePlan& plan);

}  // namespace mergewise
