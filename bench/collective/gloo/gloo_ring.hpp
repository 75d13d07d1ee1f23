// SPDX-License-Identifier: Apache-2.0
// Gloo's ring all-reduce, blocking, with nothing of ours around it: what the communicator runs on
// its stream, and what bench/micro compares it with. Hides Gloo's headers.
#pragma once

#include "bench/collective/control_plane.hpp"
#include "bench/core/units.hpp"

#include <cstddef>
#include <memory>
#include <string>

namespace gloo {
class Context;
}

namespace mergewise {

/// One Gloo context over the first `ranks` ranks, used in the function style only (mixing styles on
/// a context makes it many times slower). One call at a time, from any thread.
class GlooRing {
 public:
  /// Connects each of these ranks with each other, over control.local_address(). Throws
  /// BackendError that names the peer. Fewer than two ranks need no connection.
  GlooRing(ControlPlane& control, int ranks, Nanoseconds deadline_ns);
  ~GlooRing();
  GlooRing(const GlooRing&) = delete;
  GlooRing& operator=(const GlooRing&) = delete;

  /// In-place sum over the ranks. Throws BackendError. Gloo allocates its scratch anew each time.
  void all_reduce(float* data, std::size_t count);
  [[nodiscard]] int size() const { return ranks_; }
  /// "tcp on 10.0.0.1", or "no peers".
  [[nodiscard]] const std::string& transport() const { return transport_; }

 private:
  int rank_;
  int ranks_;
  Nanoseconds deadline_ns_;
  std::string transport_ = "no peers";
  std::shared_ptr<gloo::Context> context_;
};

}  // namespace mergewise
