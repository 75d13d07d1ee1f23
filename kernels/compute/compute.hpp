// SPDX-License-Identifier: Apache-2.0
// What the compute stream does in an iteration: hold the profile's time, or each layer's real work.
#pragma once

#include "bench/core/units.hpp"
#include "bench/device/device.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace mergewise {

/// Enqueues forward and backward work on one compute stream, and outlives that work. Enqueueing
/// allocates nothing. One host thread enqueues at a time.
class Compute {
 public:
  virtual ~Compute() = default;
  [[nodiscard]] virtual std::string id() const = 0;  ///< "timed", "gemm"
  /// Call at the start of each iteration and after any foreign work (packing, waiting) was
  /// enqueued: time that passed in it must not count as compute time.
  virtual void resume(Stream& stream) = 0;
  /// The forward pass is cut into steps so that strategies can wait between them; all steps make
  /// the pass.
  [[nodiscard]] virtual std::size_t forward_steps() const = 0;
  /// Steps [begin, end) in one go.
  virtual void forward(Stream& stream, std::size_t begin, std::size_t end) = 0;
  void forward(Stream& stream, std::size_t step) { forward(stream, step, step + 1); }
  /// The backward work that ends with this tensor (in ready order) ready; tensors without work
  /// enqueue nothing.
  virtual void backward(Stream& stream, std::size_t tensor) = 0;
};

/// Holds a host stream for the given times without using the processor, by absolute deadlines
/// (sleep errors do not add up). Zero times enqueue nothing. `forward_ns` by step, `backward_ns` by
/// tensor. Work that starts late, because other work was on the stream, ends by the same deadlines
/// still, until resume() sets them anew; std::logic_error before the first resume().
[[nodiscard]] std::unique_ptr<Compute> make_timed_compute(std::vector<Nanoseconds> forward_ns,
                                                          std::vector<Nanoseconds> backward_ns);

}  // namespace mergewise
