// SPDX-License-Identifier: Apache-2.0
// Collectives on a stream. gloo/ implements it for host memory; later nccl/ for GPUs.
#pragma once

#include "bench/core/units.hpp"
#include "bench/device/device.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

namespace mergewise {

/// Which elements of a collective's data a rank keeps (reduce-scatter) or gives (all-gather).
struct Shard {
  std::size_t begin = 0;
  std::size_t count = 0;
};
/// ceil(count / size) elements each, in order of the ranks; the last ranks have less or nothing.
[[nodiscard]] constexpr Shard shard_of(std::size_t count, int rank, int size) {
  const std::size_t whole =
      (count + static_cast<std::size_t>(size) - 1) / static_cast<std::size_t>(size);
  const std::size_t begin = std::min(count, whole * static_cast<std::size_t>(rank));
  return {begin, std::min(whole, count - begin)};
}

/// All ranks make the same calls in the same order. Calls return at once; the work runs on the
/// stream, in its order. A collective ends on no rank before all ranks have entered it, also where
/// their shards are empty.
class Communicator {
 public:
  virtual ~Communicator() = default;
  [[nodiscard]] virtual std::string id() const = 0;  ///< "gloo", "nccl"
  [[nodiscard]] virtual std::string description()
      const = 0;  ///< algorithm, transport, addresses: for results
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;

  /// In-place sum of `count` floats over all ranks. count = 0 sends nothing, whatever the pointer.
  /// The memory belongs to the caller and is not touched by others until the stream passed the
  /// call. A failure fails the stream.
  virtual void all_reduce(float* data, std::size_t count, Stream& stream) = 0;
  /// In place: afterwards this rank's shard of `data` (shard_of) holds the sum over all ranks of
  /// that range; the rest of `data` is undefined. Else as all_reduce.
  virtual void reduce_scatter(float* data, std::size_t count, Stream& stream) = 0;
  /// In place: every rank gives its shard of `data`; afterwards all ranks have all shards. Else as
  /// all_reduce.
  virtual void all_gather(float* data, std::size_t count, Stream& stream) = 0;
};

}  // namespace mergewise
