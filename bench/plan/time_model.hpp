// SPDX-License-Identifier: Apache-2.0
// The time model's inputs read from a profile: prefix sums and the cost of any group. Strategies
// see only this.
#pragma once

#include "bench/cost/profile.hpp"
#include "bench/cost/wire.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mergewise {

/// Read-only view of a profile under its compressor. Groups are half-open ranges [begin, end) in
/// ready order. Copies what it needs (O(L) memory); all queries are O(1) beside the cost model's
/// own look-up, from any thread.
class TimeModel {
 public:
  /// Throws InputError when the profile has no tensors, names a compressor without costs, or when
  /// the forward times of its tensors exceed the whole pass. A missing cost of a collective is no
  /// error here: see require_cost().
  explicit TimeModel(const Profile& profile);

  [[nodiscard]] std::size_t tensor_count() const { return bytes_.size(); }
  [[nodiscard]] const std::string& name() const { return name_; }  ///< of the profile
  [[nodiscard]] std::optional<int> ranks() const { return ranks_; }
  /// F: the whole forward pass.
  [[nodiscard]] Nanoseconds forward() const { return forward_; }
  /// Forward work of the part of the network whose gradient tensor i is. They add up to F: tensors
  /// without a forward time share what the others leave of F as their backward times are (equally
  /// where those are 0); what is left when all have one is added to the last tensor's, whose layer
  /// comes first.
  [[nodiscard]] Nanoseconds forward(std::size_t tensor) const { return tensor_forward_[tensor]; }
  [[nodiscard]] Nanoseconds backward(std::size_t tensor) const { return backward_[tensor]; }
  /// R_i of the design: backward time until tensor i is ready, compression not counted.
  [[nodiscard]] Nanoseconds ready(std::size_t tensor) const { return ready_[tensor]; }
  /// Forward and backward passes of an iteration, all but the last without communication.
  [[nodiscard]] int micro_batches() const { return accumulation_; }
  /// The time of those without.
  [[nodiscard]] Nanoseconds accumulating() const {
    return (accumulation_ - 1) * (forward_ + ready_.back());
  }
  [[nodiscard]] Bytes bytes(std::size_t tensor) const { return bytes_[tensor]; }
  [[nodiscard]] Bytes bytes(std::size_t begin, std::size_t end) const {
    return offset_[end] - offset_[begin];
  }
  /// Where each run of tensors of one layer ends, in ready order (a tensor that names no layer is
  /// its own): the units of `unit: layer`, and the layers of a forward pass, which runs from the
  /// last to the first.
  [[nodiscard]] const std::vector<std::size_t>& layer_ends() const { return layer_ends_; }
  /// The same model with each of these runs of tensors as one tensor; costs of its groups are
  /// equal.
  [[nodiscard]] TimeModel merged(const std::vector<std::size_t>& ends) const;

  /// T of what the group [begin, end) really sends, by the compressor's collective; of messages in
  /// parts, one after the other.
  [[nodiscard]] Nanoseconds transfer(std::size_t begin, std::size_t end) const {
    return wire_.dense() ? transfer_(bytes(begin, end)) : compressed_transfer(begin, end);
  }
  [[nodiscard]] Bytes wire_bytes(std::size_t begin, std::size_t end) const {
    return wire_.wire_bytes(bytes(begin, end), counted_[end] - counted_[begin],
                            vectors_[end] - vectors_[begin]);
  }
  /// T of a collective that is given so many bytes: all-reduce and reduce-scatter the bytes of the
  /// group, all-gather what one rank contributes. std::logic_error without require_cost().
  [[nodiscard]] Nanoseconds collective_time(Collective collective, Bytes bytes) const;
  [[nodiscard]] bool has_cost(Collective collective) const {
    return costs_[static_cast<std::size_t>(collective)].has_value();
  }
  /// Throws UnsupportedError naming the collective, the profile and `who` needs it.
  void require_cost(Collective collective, std::string_view who) const;
  /// The number of ranks; throws UnsupportedError naming the profile and `who` needs it.
  [[nodiscard]] int require_ranks(std::string_view who) const;
  /// Throws UnsupportedError when gradients are compressed, naming the compressor and `who` sends
  /// dense ones only.
  void require_dense(std::string_view who) const;

  /// p + c: packing and compression, on the compute stream before the group is ready.
  [[nodiscard]] Nanoseconds before_send(std::size_t begin, std::size_t end) const {
    const Bytes dense = bytes(begin, end);
    return pack_(dense) + compress_(dense);
  }
  /// d + q + u: decompression, unpacking and update, on the compute stream after the group arrived.
  [[nodiscard]] Nanoseconds after_send(std::size_t begin, std::size_t end) const {
    const Bytes dense = bytes(begin, end);
    return decompress_(dense) + unpack_(dense) + update_(dense);
  }

  [[nodiscard]] Collective collective() const { return wire_.collective(); }
  [[nodiscard]] const WireFormat& wire() const { return wire_; }
  /// The line T(wire) = a + b wire when dense gradients are sent under a linear cost, else nullptr.
  [[nodiscard]] const LinearCost* dense_line() const;
  /// True when groups cost only their transfer (p, q, u, c, d all 0): the forms with a closed
  /// recurrence.
  [[nodiscard]] bool only_transfers() const;

 private:
  [[nodiscard]] Nanoseconds compressed_transfer(std::size_t begin, std::size_t end) const;

  std::string name_;
  std::optional<int> ranks_;
  WireFormat wire_;
  std::array<std::optional<CostModel>, kCollectives.size()> costs_;  // by Collective
  CostModel transfer_;  // of wire_.collective(), where there is one
  CostModel pack_, compress_, decompress_, unpack_, update_;
  Nanoseconds forward_ = 0;
  int accumulation_ = 1;
  std::vector<Nanoseconds> tensor_forward_;
  std::vector<Nanoseconds> backward_;
  std::vector<Nanoseconds> ready_;
  std::vector<Bytes> bytes_;
  std::vector<Bytes> offset_;          // offset_[i]: bytes of tensors before i; one longer
  std::vector<std::int64_t> counted_;  // tensors before i that have bytes; one longer
  std::vector<Bytes> vectors_;         // bytes of tensors before i of one dimension; one longer
  std::vector<std::size_t> layer_ends_;
};

}  // namespace mergewise
