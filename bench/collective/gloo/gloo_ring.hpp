// SPDX-License-Identifier: Apache-2.0
// Ring collectives over Gloo, blocking: what the communicator runs on its stream, and what
// bench/micro compares it with. Hides Gloo's headers.
#pragma once

#include "bench/collective/control_plane.hpp"
#include "bench/core/dtype.hpp"
#include "bench/core/units.hpp"

#include <cstddef>
#include <cstdint>
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

  /// As Communicator::all_reduce. Gloo allocates its scratch anew each time.
  void all_reduce(std::byte* data, std::size_t count, DType dtype);
  void all_reduce(float* data, std::size_t count) {
    all_reduce(reinterpret_cast<std::byte*>(data), count, DType::kFloat32);
  }
  /// As Communicator::reduce_scatter. Ours, of Gloo's point-to-point messages: Gloo's function
  /// style has none, and its ReduceScatterHalvingDoubling loses messages or gives wrong sums unless
  /// the ranks are a power of two (measured with 3, 5, 6 and 7).
  void reduce_scatter(float* data, std::size_t count);
  /// As Communicator has them. Ours, of Gloo's point-to-point messages: only those need no scratch
  /// and may differ in size.
  void all_gather(float* data, std::size_t count);
  void all_gather(const std::byte* mine, std::size_t bytes, std::byte* received);
  void all_gather_counted(const std::byte* mine, std::uint64_t bytes, std::size_t capacity,
                          std::byte* received, std::uint64_t* received_bytes);
  [[nodiscard]] int size() const { return ranks_; }
  /// "tcp on 10.0.0.1", or "no peers".
  [[nodiscard]] const std::string& transport() const { return transport_; }

 private:
  /// Where each rank's bytes lie among all of them.
  struct Block {
    std::size_t begin = 0;
    std::size_t bytes = 0;
  };

  void run(const char* name, std::size_t count, const char* of_what,
           const std::function<void()>& collective) const;
  void run_reduce_scatter(float* data, std::size_t count);
  void exchange_sizes(std::uint64_t* bytes) const;
  void circulate(std::byte* data) const;

  int rank_;
  int ranks_;
  Nanoseconds deadline_ns_;
  std::string transport_ = "no peers";
  std::shared_ptr<gloo::Context> context_;
  std::vector<float> arriving_;  // two segments of a reduce-scatter
  std::vector<Block> blocks_;    // by rank, of an all-gather
};

}  // namespace mergewise
