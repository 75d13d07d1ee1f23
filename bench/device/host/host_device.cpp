// SPDX-License-Identifier: Apache-2.0
#include "bench/device/host/host_device.hpp"

#include "bench/core/error.hpp"
#include "bench/device/host/host_event.hpp"
#include "bench/device/host/host_memory.hpp"
#include "bench/device/host/host_stream.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

#include <cerrno>
#include <cmath>
#include <deque>
#include <fstream>
#include <limits>
#include <mutex>
#include <thread>

namespace mergewise {
namespace {

// "model name : Intel(R) Xeon(R) ..." of the first processor.
std::string processor_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "unknown processor";
}

int processors_allowed() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) return CPU_COUNT(&allowed);
  return static_cast<int>(std::thread::hardware_concurrency());
}

class HostDevice final : public Device {
 public:
  [[nodiscard]] std::string id() const override { return "cpu"; }

  [[nodiscard]] std::string description() const override {
    return fmt::format("{}, {} processors allowed", processor_name(), processors_allowed());
  }

  [[nodiscard]] std::unique_ptr<Stream> create_stream(StreamRole role) override {
    const char* name = role == StreamRole::kCompute ? "mw-compute" : "mw-comm";
    const std::lock_guard lock(mutex_);
    return std::make_unique<ThreadStream>(progresses_.emplace_back(), name);
  }

  [[nodiscard]] std::unique_ptr<Event> create_event() override {
    return std::make_unique<HostEvent>();
  }

  [[nodiscard]] std::unique_ptr<Buffer> allocate(Bytes size) override {
    return make_host_buffer(size);
  }

  void hold(Stream& stream, Event& since, Nanoseconds delay) override {
    MERGEWISE_CHECK(delay >= 0, "a stream was to be held for a negative time");
    const HostEvent& event = as_host(since);
    const HostMark mark = event.latest();
    if (mark == HostMark{}) return;
    stream.wait(since);
    as_host(stream).enqueue(
        [&event, mark, delay] { sleep_until(stamp_after(event.stamp_of(mark), delay)); });
  }

  void copy(Stream& stream, const std::byte* from, std::byte* to, Bytes size) override {
    MERGEWISE_CHECK(size >= 0, "a copy of negative size was asked for");
    if (size == 0) return;
    as_host(stream).enqueue(
        [from, to, size] { std::memcpy(to, from, static_cast<std::size_t>(size)); });
  }

 private:
  std::mutex mutex_;
  // Of all streams ever made: events may still stand for a mark of a stream that is gone.
  std::deque<HostProgress> progresses_;
};

}  // namespace

HostStream& as_host(Stream& stream) {
  auto* host = dynamic_cast<HostStream*>(&stream);
  MERGEWISE_CHECK(host != nullptr, "a stream of another device was given to the host device");
  return *host;
}

std::unique_ptr<Device> make_host_device() { return std::make_unique<HostDevice>(); }

Stamp stamp_after(Stamp since, Nanoseconds delay) {
  constexpr Stamp kLast = std::numeric_limits<Stamp>::max();
  if (delay >= static_cast<Nanoseconds>(kLast - since)) return kLast;
  return since + static_cast<Stamp>(std::llround(delay));
}

void sleep_until(Stamp deadline) {
  // Once per thread: the kernel's default slack of 50 us is as long as many layers.
  thread_local const int kSlackSet = prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  static_cast<void>(kSlackSet);
  timespec time{};
  time.tv_sec = deadline / 1'000'000'000;
  time.tv_nsec = deadline % 1'000'000'000;
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) == EINTR) {
  }
}

}  // namespace mergewise
