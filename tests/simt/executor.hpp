// SPDX-License-Identifier: Apache-2.0
// Executes CUDA kernels on the host: one fiber per thread of a block, blocks one after the other.
// Knows barriers, warp operations and dynamic shared memory; tests/simt/simt.hpp gives them CUDA's
// names.
#pragma once

#include "tests/simt/fiber.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <random>
#include <string>
#include <vector>

namespace mergewise::simt {

/// CUDA's dim3 and uint3.
struct Dim3 {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;
  // NOLINTNEXTLINE(google-explicit-constructor): as CUDA's, a number is a shape
  constexpr Dim3(unsigned width = 1, unsigned height = 1, unsigned depth = 1)
      : x(width), y(height), z(depth) {}
  [[nodiscard]] std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

/// Where the running thread is; CUDA's threadIdx, blockIdx, blockDim, gridDim.
struct Position {
  Dim3 thread;
  Dim3 block;
  Dim3 block_dim;
  Dim3 grid_dim;
};
extern Position position;

/// The order in which the threads of a block run from one barrier to the next. Random: drawn anew
/// each time, and threads are also interrupted before atomic operations.
enum class ThreadOrder { kForward, kReverse, kRandom };

/// A place in a kernel's source.
struct Where {
  const char* file;
  int line;
};

/// What a lane brings to a warp operation, and what it gets: the value of its source lane (all ones
/// if that lane does not take part) and the predicates of all lanes that do.
struct WarpCall {
  const char* name = "";
  Where where{};
  unsigned mask = 0;
  unsigned source = 0;
  std::uint64_t value = 0;
  bool predicate = false;
};
struct WarpResult {
  std::uint64_t value = 0;
  unsigned ballot = 0;
};

constexpr unsigned kWarpSize = 32;
constexpr std::size_t kMaxThreads = 1024;  // of a block
constexpr std::size_t kMaxShared =
    48U << 10U;  // bytes of dynamic shared memory without opting in to more

/// The one device of the process: launches of several host threads run one at a time.
class Executor {
 public:
  static Executor& instance();

  void set_order(ThreadOrder order, std::uint64_t seed);

  /// Runs the body once per thread. Returns what went wrong, in one sentence that names the block,
  /// the thread and the place, or an empty string. Every started thread has left the body by then.
  /// Expects a shape within the limits.
  [[nodiscard]] std::string run(const Dim3& grid, const Dim3& block, std::size_t shared_bytes,
                                const std::function<void()>& body);

  // For the running thread of a kernel:
  void barrier(Where where);
  WarpResult warp(const WarpCall& call);
  /// Before an atomic operation.
  void interrupt();
  /// Aligned to 256 bytes; each block finds it filled with ones, not with what the block before
  /// left there.
  std::byte* shared_memory() { return shared_.data() + shared_start_; }
  [[nodiscard]] unsigned lane() const { return static_cast<unsigned>(current_ % kWarpSize); }

 private:
  enum class State { kReady, kAtBarrier, kAtWarp, kEnded };
  struct Thread {
    explicit Thread(std::function<void()> body) : fiber(std::move(body)) {}
    Fiber fiber;
    State state = State::kEnded;
    bool started = false;
    Where where{};  // of the barrier it waits at
    WarpCall call;  // the warp operation it waits at
    WarpResult result;
  };
  struct Abandoned {};

  void run_block(std::size_t shared_bytes);
  void resume(std::size_t index);
  void thread_body();
  void wait();
  void order_threads(std::size_t begin, std::size_t end, unsigned mask);
  void abandon();
  void fill_shared(std::size_t bytes);
  void check_guards();
  [[noreturn]] void fail(const std::string& what);
  [[nodiscard]] unsigned missing_lane(const WarpCall& call, std::size_t warp) const;
  [[nodiscard]] std::string name(std::size_t index) const;
  [[nodiscard]] std::string stuck() const;

  std::mutex mutex_;  // held by a launch
  ThreadOrder order_ = ThreadOrder::kForward;
  std::mt19937_64 random_;
  std::deque<Thread> threads_;  // made once, used by every block
  std::size_t size_ = 0;        // threads of the block
  std::size_t current_ = 0;
  std::size_t unfinished_ = 0;
  std::size_t at_barrier_ = 0;
  bool abandoning_ = false;
  std::string fault_;  // the first one
  const std::function<void()>* body_ = nullptr;
  std::vector<std::byte> shared_;  // guard, dynamic shared memory, guard
  std::size_t shared_start_ = 0;
  std::size_t shared_bytes_ = 0;
};

/// Sets the order while it lives, then forward again.
class OrderGuard {
 public:
  explicit OrderGuard(ThreadOrder order, std::uint64_t seed = 1) {
    Executor::instance().set_order(order, seed);
  }
  ~OrderGuard() { Executor::instance().set_order(ThreadOrder::kForward, 1); }
  OrderGuard(const OrderGuard&) = delete;
  OrderGuard& operator=(const OrderGuard&) = delete;
};

}  // namespace mergewise::simt
