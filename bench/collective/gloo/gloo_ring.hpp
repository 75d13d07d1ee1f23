// SPDX-License-Identifier: Apache-2.0
// Ring collectives over Gloo, blocking: what the communicator runs on its stream, and what
// bench/micro compares it with. Hides Gloo's headers.
#pragma once

#include "bench/collective/control_plane.hpp"
#include "bench/core/units.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gloo {
class Context;
}

namespace mergewise {

/// One Gloo context over the first `ranks` ranks, used in the function style only (mixing styles on
/// a context makes it many times slower). One call at a time, from any thread; each ends on no rank
/// before all ranks have entered it, and throws BackendError, naming this rank.
class GlooRing {
 public:
  /// Connects each of these ranks with each other, over control.local_address(). Throws
  /// BackendError that names the peer. Fewer than two ranks need no connection.
  GlooRing(ControlPlane& control, int ranks, Nanoseconds deadline_ns);
  ~GlooRing();
  GlooRing(const GlooRing&) = delete;
  GlooRing& operator=(const GlooRing&) = delete;

  /// In-place sum over the ranks. Gloo allocates its scratch anew each time.
  void all_reduce(float* data, std::size_t count);
  /// As Communicator::reduce_scatter. Ours, of Gloo's point-to-point messages: Gloo's function
  /// style has none, and its ReduceScatterHalvingDoubling loses messages or gives wrong sums unless
  /// the ranks are a power of two (measured with 3, 5, 6 and 7).
  void reduce_scatter(float* data, std::size_t count);
  /// As Communicator::all_gather: Gloo's ring all-gather of unequal parts.
  void all_gather(float* data, std::size_t count);
  [[nodiscard]] int size() const { return ranks_; }
  /// "tcp on 10.0.0.1", or "no peers".
  [[nodiscard]] const std::string& transport() const { return transport_; }

 private:
  void run(const char* name, std::size_t count, const std::function<void()>& collective) const;
  void run_reduce_scatter(float* data, std::size_t count);

  int rank_;
  int ranks_;
  Nanoseconds deadline_ns_;
  std::string transport_ = "no peers";
  std::shared_ptr<gloo::Context> context_;
  std::vector<float> arriving_;  // two segments of a reduce-scatter
};

}  // namespace mergewise
