// SPDX-License-Identifier: Apache-2.0
#include "bench/device/host/host_event.hpp"

#include "bench/core/error.hpp"

#include <algorithm>

namespace mergewise {

void HostProgress::reach(std::uint64_t mark) {
  {
    const std::lock_guard lock(mutex_);
    reached_ = mark;
    if (reached_ < wanted_) return;
    wanted_ = kNobody;
  }
  wanted_reached_.notify_all();
}

void HostProgress::wait_for(std::uint64_t mark) {
  std::unique_lock lock(mutex_);
  while (reached_ < mark) {
    // Again after each wake-up: whoever waits for a later mark was woken with the others.
    wanted_ = std::min(wanted_, mark);
    wanted_reached_.wait(lock);
  }
}

Stamp HostEvent::stamp() const {
  const std::lock_guard lock(mutex_);
  MERGEWISE_CHECK(stamp_ != 0,
                  "an event's stamp was asked for before its latest record was reached");
  return stamp_;
}

Stamp HostEvent::stamp_of(HostMark mark) const {
  const std::lock_guard lock(mutex_);
  MERGEWISE_CHECK(latest_ == mark && stamp_ != 0,
                  "an event was recorded again while a stream was still to be held by it");
  return stamp_;
}

HostMark HostEvent::latest() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

void HostEvent::record(HostMark mark) {
  const std::lock_guard lock(mutex_);
  latest_ = mark;
  stamp_ = 0;
}

void HostEvent::reach(HostMark mark, Stamp stamp) {
  const std::lock_guard lock(mutex_);
  if (latest_ == mark) stamp_ = stamp;
}

HostEvent& as_host(Event& event) {
  auto* host = dynamic_cast<HostEvent*>(&event);
  MERGEWISE_CHECK(host != nullptr, "an event of another device was given to the host device");
  return *host;
}

}  // namespace mergewise
