// SPDX-License-Identifier: Apache-2.0
#include "bench/device/host/host_stream.hpp"

#include "bench/core/error.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <exception>
#include <utility>

namespace mergewise {

ThreadStream::ThreadStream(HostProgress& progress, std::string name)
    : progress_(progress), name_(std::move(name)), ring_(kRingSize) {
  thread_ = std::thread([this] { run(); });
  pthread_setname_np(thread_.native_handle(), name_.c_str());
}

ThreadStream::~ThreadStream() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_one();
  thread_.join();
}

void ThreadStream::record(Event& event) {
  check_other_thread();
  HostEvent& recorded = as_host(event);
  const HostMark mark{&progress_, ++marks_};
  recorded.record(mark);
  push({[&recorded, mark] {
          recorded.reach(mark, now());
          mark.progress->reach(mark.number);
        },
        true});
}

void ThreadStream::wait(Event& event) {
  const HostMark mark = as_host(event).latest();
  // A stream is in order with itself anyway.
  if (mark.progress == nullptr || mark.progress == &progress_) return;
  push({[mark] { mark.wait(); }, true});
}

void ThreadStream::enqueue(HostTask task) { push({task, false}); }

void ThreadStream::synchronize() {
  check_other_thread();
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [&] { return queued() == 0; });
  if (failure_) throw BackendError(*failure_);
}

void ThreadStream::push(const Item& item) {
  check_other_thread();
  {
    std::unique_lock lock(mutex_);
    if (queued() == kRingSize) {
      // Half the ring at a time: else the two threads would wake each other for every item.
      room_.wait(lock, [&] { return queued() <= kRingSize / 2; });
    }
    ring_[pushed_ % kRingSize] = item;
    ++pushed_;
  }
  work_.notify_one();
}

void ThreadStream::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    work_.wait(lock, [&] { return queued() > 0 || stopping_; });
    if (queued() == 0) return;
    // Run in place: the slot is taken again only after the item counts as popped.
    Item& item = ring_[popped_ % kRingSize];
    const bool skipped = failure_ && !item.always;
    lock.unlock();
    if (!skipped) run_task(item.task);
    lock.lock();
    ++popped_;
    if (queued() == kRingSize / 2) room_.notify_all();
    if (queued() == 0) idle_.notify_all();
  }
}

void ThreadStream::run_task(HostTask& task) noexcept {
  std::string message;
  try {
    task();
    return;
  } catch (const Error& error) {
    message = error.what();
  } catch (const std::exception& error) {
    message = fmt::format("a task of stream {} failed: {}", name_, error.what());
  } catch (...) {
    message = fmt::format("a task of stream {} failed with an unknown exception", name_);
  }
  const std::lock_guard lock(mutex_);
  failure_ = std::move(message);
}

void ThreadStream::check_other_thread() const {
  MERGEWISE_CHECK(
      std::this_thread::get_id() != thread_.get_id(),
      "a task of stream " + name_ + " used its own stream, which would wait for itself");
}

}  // namespace mergewise
