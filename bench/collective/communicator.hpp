// SPDX-License-Identifier: Apache-2.0
// Collectives on a stream. gloo/ implements it for host memory; later nccl/ for GPUs.
#pragma once

#include "bench/core/dtype.hpp"
#include "bench/core/units.hpp"
#include "bench/device/device.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
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

  /// In-place sum of `count` elements of this type over all ranks, the same bits on all of them.
  /// Halves are added as a ring does: each sum of two in fp32, rounded to nearest (ties to even).
  /// count = 0 sends nothing, whatever the pointer. The memory belongs to the caller and is not
  /// touched by others until the stream passed the call. A failure fails the stream.
  virtual void all_reduce(std::byte* data, std::size_t count, DType dtype, Stream& stream) = 0;
  void all_reduce(float* data, std::size_t count, Stream& stream) {
    all_reduce(reinterpret_cast<std::byte*>(data), count, DType::kFloat32, stream);
  }
  /// In place: afterwards this rank's shard of `data` (shard_of) holds the sum over all ranks of
  /// that range; the rest of `data` is undefined. Else as all_reduce.
  virtual void reduce_scatter(float* data, std::size_t count, Stream& stream) = 0;
  /// In place: every rank gives its shard of `data`; afterwards all ranks have all shards. Else as
  /// all_reduce.
  virtual void all_gather(float* data, std::size_t count, Stream& stream) = 0;
  /// Every rank gives `bytes` bytes, as many on all ranks; afterwards `received` has all of them in
  /// the order of ranks. The two do not overlap. Else as all_reduce.
  virtual void all_gather(const std::byte* mine, std::size_t bytes, std::byte* received,
                          Stream& stream) = 0;
  /// Every rank gives as many bytes as `bytes` says when the stream gets there, at most `capacity`
  /// (which is the same on all ranks; 0 sends nothing). Afterwards those of rank r begin at
  /// received + r * capacity, what lies behind them is as it was, and received_bytes[r] says how
  /// many they are. Nothing is padded on the wire: the sizes travel first. More than the capacity
  /// fails the streams of all ranks, with the rank's number. Else as all_gather.
  virtual void all_gather_counted(const std::byte* mine, const std::uint64_t* bytes,
                                  std::size_t capacity, std::byte* received,
                                  std::uint64_t* received_bytes, Stream& stream) = 0;
};

}  // namespace mergewise
