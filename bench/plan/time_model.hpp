// SPDX-License-Identifier: Apache-2.0
// The time model's inputs read from a profile: prefix sums and the cost of any group. Strategies
// see only this.
#pragma once

#include "bench/cost/profile.hpp"
#include "bench/cost/wire.hpp"

#include <cstddef>
#include <vector>

namespace mergewise {

/// Read-only view of a profile under its compressor. Groups are half-open ranges [begin, end) in
/// ready order. Copies what it needs (O(L) memory); all queries are O(1) beside the cost model's
/// own look-up.
class TimeModel {
 public:
  /// Throws UnsupportedError when the profile has no cost for the collective its compressor needs,
  /// InputError when it names a compressor without costs.
  explicit TimeModel(const Profile& profile);

  [[nodiscard]] std::size_t tensor_count() const { return bytes_.size(); }
  [[nodiscard]] Nanoseconds forward() const { return forward_; }
  [[nodiscard]] Nanoseconds backward(std::size_t tensor) const { return backward_[tensor]; }
  /// R_i of the design: backward time until tensor i is ready, compression not counted.
  [[nodiscard]] Nanoseconds ready(std::size_t tensor) const { return ready_[tensor]; }
  [[nodiscard]] Bytes bytes(std::size_t tensor) const { return bytes_[tensor]; }
  [[nodiscard]] Bytes bytes(std::size_t begin, std::size_t end) const {
    return offset_[end] - offset_[begin];
  }

  /// T of what a group of `dense` bytes really sends.
  [[nodiscard]] Nanoseconds transfer(Bytes dense) const {
    return transfer_(wire_.wire_bytes(dense));
  }
  /// p + c: packing and compression, on the compute stream before the group is ready.
  [[nodiscard]] Nanoseconds before_send(Bytes dense) const {
    return pack_(dense) + compress_(dense);
  }
  /// d + q + u: decompression, unpacking and update, on the compute stream after the group arrived.
  [[nodiscard]] Nanoseconds after_send(Bytes dense) const {
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
  WireFormat wire_;
  CostModel transfer_;
  CostModel pack_, compress_, decompress_, unpack_, update_;
  Nanoseconds forward_ = 0;
  std::vector<Nanoseconds> backward_;
  std::vector<Nanoseconds> ready_;
  std::vector<Bytes> bytes_;
  std::vector<Bytes> offset_;  // offset_[i]: bytes of tensors before i; one longer than bytes_
};

}  // namespace mergewise
