// SPDX-License-Identifier: Apache-2.0
#include "tests/simt/executor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <numeric>
#include <string_view>
#include <utility>

namespace mergewise::simt {

Position position;

namespace {

constexpr std::size_t kGuardBytes = 256;
constexpr std::byte kGuard{0xA5};
const std::vector<std::byte> kGuards(kGuardBytes, kGuard);
constexpr std::byte kUnset{0xFF};  // NaN as float, -1 as integer

std::string text(const Dim3& index) {
  return fmt::format("({}, {}, {})", index.x, index.y, index.z);
}

std::string text(const Where& where) { return fmt::format("{}:{}", where.file, where.line); }

bool same(const Where& a, const Where& b) {
  return a.line == b.line && std::string_view(a.file) == b.file;
}

Dim3 unflatten(std::uint64_t index, const Dim3& shape) {
  return {static_cast<unsigned>(index % shape.x), static_cast<unsigned>(index / shape.x % shape.y),
          static_cast<unsigned>(index / shape.x / shape.y)};
}

}  // namespace

Executor& Executor::instance() {
  static Executor executor;
  return executor;
}

void Executor::set_order(ThreadOrder order, std::uint64_t seed) {
  const std::lock_guard lock(mutex_);
  order_ = order;
  random_.seed(seed);
}

std::string Executor::run(const Dim3& grid, const Dim3& block, std::size_t shared_bytes,
                          const std::function<void()>& body) {
  const std::lock_guard lock(mutex_);
  const Unobserved unobserved;
  size_ = block.count();
  while (threads_.size() < size_) {
    threads_.emplace_back([this] { thread_body(); });
  }
  body_ = &body;
  fault_.clear();
  position.block_dim = block;
  position.grid_dim = grid;
  for (std::uint64_t index = 0; index < grid.count() && fault_.empty(); ++index) {
    position.block = unflatten(index, grid);
    run_block(shared_bytes);
  }
  return std::exchange(fault_, {});
}

void Executor::run_block(std::size_t shared_bytes) {
  fill_shared(shared_bytes);
  for (std::size_t index = 0; index < size_; ++index) {
    threads_[index].state = State::kReady;
    threads_[index].started = false;
  }
  unfinished_ = size_;
  at_barrier_ = 0;
  release(&body_);
  std::vector<std::size_t> order(size_);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (order_ == ThreadOrder::kReverse) {
    std::reverse(order.begin(), order.end());
  }
  while (unfinished_ > 0 && fault_.empty()) {
    if (order_ == ThreadOrder::kRandom) {
      std::shuffle(order.begin(), order.end(), random_);
    }
    bool progress = false;
    for (const std::size_t index : order) {
      if (threads_[index].state == State::kReady && fault_.empty()) {
        progress = true;
        resume(index);
        check_guards();
      }
    }
    if (!progress) {
      fault_ = stuck();
    }
  }
  abandon();
  acquire(&unfinished_);
}

void Executor::resume(std::size_t index) {
  current_ = index;
  position.thread = unflatten(index, position.block_dim);
  threads_[index].started = true;
  threads_[index].fiber.resume();
}

// On the thread's fiber.
void Executor::thread_body() {
  acquire(&body_);
  std::string thrown;
  try {
    (*body_)();
  } catch (const Abandoned&) {
  } catch (const std::exception& error) {
    thrown = error.what();
  } catch (...) {
    thrown = "something that is no std::exception";
  }
  release(&unfinished_);
  const Unobserved unobserved;
  if (!thrown.empty() && fault_.empty()) {
    fault_ = fmt::format("{} threw: {}", name(current_), thrown);
  }
  threads_[current_].state = State::kEnded;
  --unfinished_;
}

// Until what the thread waits for has made it ready.
void Executor::wait() {
  threads_[current_].fiber.suspend();
  if (abandoning_) {
    throw Abandoned{};
  }
}

// After a fault: unwinds the stacks of all that have started and not ended.
void Executor::abandon() {
  abandoning_ = true;
  for (std::size_t index = 0; index < size_; ++index) {
    while (threads_[index].started && threads_[index].state != State::kEnded) {
      resume(index);
    }
  }
  abandoning_ = false;
}

void Executor::fail(const std::string& what) {
  if (fault_.empty()) {
    fault_ = fmt::format("{} {}", name(current_), what);
  }
  throw Abandoned{};
}

// Tells the thread sanitizer that what each of these threads did so far comes before what any of
// them does next. Each has released its call before, and will acquire its result; one object for
// all would also order what it must not: a thread that arrives at the next barrier before one that
// still has to leave this one.
void Executor::order_threads(std::size_t begin, std::size_t end, unsigned mask) {
  const auto takes_part = [&](std::size_t index) {
    return (mask >> (index - begin) % kWarpSize & 1U) != 0;
  };
  for (std::size_t index = begin; index < end; ++index) {
    if (takes_part(index)) {
      acquire(&threads_[index].call);
    }
  }
  for (std::size_t index = begin; index < end; ++index) {
    if (takes_part(index)) {
      release(&threads_[index].result);
    }
  }
}

void Executor::barrier(Where where) {
  const Unobserved unobserved;
  Thread& self = threads_[current_];
  release(&self.call);
  self.state = State::kAtBarrier;
  self.where = where;
  if (++at_barrier_ < size_) {
    wait();
  } else {
    for (std::size_t index = 0; index < size_; ++index) {
      if (!same(threads_[index].where, where)) {
        fail(fmt::format(
            "is at the barrier of {}, while {} is at that of {}: all threads of a block must reach "
            "the same one",
            text(where), name(index), text(threads_[index].where)));
      }
      threads_[index].state = State::kReady;
    }
    at_barrier_ = 0;
    order_threads(0, size_, ~0U);
  }
  acquire(&self.result);
}

// The first lane of the mask that has not arrived at this operation; kWarpSize if all have.
unsigned Executor::missing_lane(const WarpCall& call, std::size_t warp) const {
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    const std::size_t index = warp * kWarpSize + lane;
    if ((call.mask >> lane & 1U) != 0 &&
        (index >= size_ || threads_[index].state != State::kAtWarp ||
         threads_[index].call.mask != call.mask ||
         std::string_view(threads_[index].call.name) != call.name)) {
      return lane;
    }
  }
  return kWarpSize;
}

WarpResult Executor::warp(const WarpCall& call) {
  const Unobserved unobserved;
  Thread& self = threads_[current_];
  const std::size_t warp = current_ / kWarpSize;
  if ((call.mask >> lane() & 1U) == 0) {
    fail(fmt::format("(lane {}) calls {} at {} with mask {:#010x}, which does not name it", lane(),
                     call.name, text(call.where), call.mask));
  }
  release(&self.call);
  self.state = State::kAtWarp;
  self.call = call;
  if (missing_lane(call, warp) != kWarpSize) {
    wait();
  } else {
    WarpResult result;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      if ((call.mask >> lane & 1U) != 0 && threads_[warp * kWarpSize + lane].call.predicate) {
        result.ballot |= 1U << lane;
      }
    }
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      if ((call.mask >> lane & 1U) != 0) {
        Thread& thread = threads_[warp * kWarpSize + lane];
        const unsigned source = thread.call.source;
        result.value = (call.mask >> source & 1U) != 0
                           ? threads_[warp * kWarpSize + source].call.value
                           : ~std::uint64_t{0};
        thread.result = result;
        thread.state = State::kReady;
      }
    }
    order_threads(warp * kWarpSize, std::min(size_, (warp + 1) * kWarpSize), call.mask);
  }
  acquire(&self.result);
  return self.result;
}

void Executor::interrupt() {
  const Unobserved unobserved;
  if (order_ == ThreadOrder::kRandom && random_() % 4 == 0) {
    wait();
  }
}

void Executor::fill_shared(std::size_t bytes) {
  shared_.assign(bytes + 3 * kGuardBytes, kGuard);
  const auto address = reinterpret_cast<std::uintptr_t>(shared_.data()) + kGuardBytes;
  shared_start_ = kGuardBytes + (kGuardBytes - address % kGuardBytes) % kGuardBytes;
  shared_bytes_ = bytes;
  std::fill_n(shared_memory(), bytes, kUnset);
}

void Executor::check_guards() {
  const std::byte* begin = shared_memory();
  if (std::memcmp(begin - kGuardBytes, kGuards.data(), kGuardBytes) == 0 &&
      std::memcmp(begin + shared_bytes_, kGuards.data(), kGuardBytes) == 0) {
    return;
  }
  for (std::size_t distance = 0; distance < kGuardBytes; ++distance) {
    const bool before = shared_[shared_start_ - 1 - distance] != kGuard;
    if (before || shared_[shared_start_ + shared_bytes_ + distance] != kGuard) {
      if (fault_.empty()) {
        fault_ = fmt::format("{} wrote {} bytes {} its {} bytes of dynamic shared memory",
                             name(current_), distance + (before ? 1 : 0),
                             before ? "before" : "beyond", shared_bytes_);
      }
      return;
    }
  }
}

std::string Executor::name(std::size_t index) const {
  return fmt::format("block {} thread {}", text(position.block),
                     text(unflatten(index, position.block_dim)));
}

// Nobody can run: says for what the first waiting thread waits.
std::string Executor::stuck() const {
  std::size_t index = 0;
  while (threads_[index].state == State::kEnded) {
    ++index;
  }
  const Thread& thread = threads_[index];
  if (thread.state == State::kAtBarrier) {
    return fmt::format(
        "{} waits at the barrier of {} with {} of {} threads; {} have ended, {} wait elsewhere",
        name(index), text(thread.where), at_barrier_, size_, size_ - unfinished_,
        unfinished_ - at_barrier_);
  }
  const std::size_t warp = index / kWarpSize;
  const unsigned lane = missing_lane(thread.call, warp);
  const std::size_t missing = warp * kWarpSize + lane;
  std::string_view why = "waits in another warp operation";
  if (missing >= size_) {
    why = "the block does not have";
  } else if (threads_[missing].state == State::kEnded) {
    why = "has ended";
  } else if (threads_[missing].state == State::kAtBarrier) {
    why = "waits at a barrier";
  }
  return fmt::format("{} waits in {} of {} with mask {:#010x} for lane {}, which {}", name(index),
                     thread.call.name, text(thread.call.where), thread.call.mask, lane, why);
}

}  // namespace mergewise::simt
