// SPDX-License-Identifier: Apache-2.0
// Collectives on a stream. gloo/ implements it for host memory; later nccl/ for GPUs.
#pragma once

#include "bench/core/units.hpp"
#include "bench/device/device.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace mergewise {

/// All ranks make the same calls in the same order. Calls return at once; the work runs on the
/// stream, in its order.
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
};

}  // namespace mergewise
