// SPDX-License-Identifier: Apache-2.0
#include "kernels/primitives/host/team.hpp"

#include "bench/core/error.hpp"

#include <string>

namespace mergewise {

Team::Team(int threads) {
  if (threads < 1) {
    throw InputError("A team of " + std::to_string(threads) +
                     " threads cannot work: it needs at least 1.");
  }
  threads_.reserve(static_cast<std::size_t>(threads - 1));
  for (int part = 1; part < threads; ++part) threads_.emplace_back([this, part] { work(part); });
}

Team::~Team() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  started_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Team::start_and_wait(Call call, void* body) {
  {
    const std::lock_guard lock(mutex_);
    call_ = call;
    body_ = body;
    working_ = static_cast<int>(threads_.size());
    ++round_;
  }
  started_.notify_all();
  call(body, 0);
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [this] { return working_ == 0; });
}

void Team::work(int part) {
  std::uint64_t done = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    started_.wait(lock, [this, done] { return ending_ || round_ != done; });
    if (ending_) return;
    done = round_;
    const Call call = call_;
    void* const body = body_;
    lock.unlock();
    call(body, part);
    lock.lock();
    if (--working_ == 0) finished_.notify_one();
  }
}

}  // namespace mergewise
