// SPDX-License-Identifier: Apache-2.0
#include "bench/replay/compute_load.hpp"

#include "bench/core/error.hpp"
#include "bench/device/host/host_device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace mergewise {
namespace {

using ::testing::HasSubstr;

TEST(ComputeLoad, WorksUntilItIsStopped) {
  const auto device = make_host_device();
  ComputeLoad load(*device);
  load.stop();  // never started
  for (int i = 0; i < 2; ++i) {
    load.start();
    load.start();
    load.stop();
  }
  load.start();  // its end stops it, with passes queued that must not outlive their events
  EXPECT_THAT(ComputeLoad::description(), HasSubstr("products of"));
}

// A host whose streams count what is enqueued, and refuse it from some task on.
class CountingDevice : public Device {
 public:
  explicit CountingDevice(int accepted) : left_(accepted) {}
  [[nodiscard]] std::string id() const override { return host_->id(); }
  [[nodiscard]] std::string description() const override { return host_->description(); }
  [[nodiscard]] std::unique_ptr<Stream> create_stream(StreamRole role) override {
    return std::make_unique<CountingStream>(host_->create_stream(role), left_);
  }
  [[nodiscard]] std::unique_ptr<Event> create_event() override { return host_->create_event(); }
  [[nodiscard]] std::unique_ptr<Buffer> allocate(Bytes size) override {
    return host_->allocate(size);
  }
  void hold(Stream&, Event&, Nanoseconds) override {}
  void copy(Stream&, const std::byte*, std::byte*, Bytes) override {}
  /// Tasks that are still accepted.
  [[nodiscard]] int left() const { return left_; }

 private:
  class CountingStream : public HostStream {
   public:
    CountingStream(std::unique_ptr<Stream> stream, std::atomic<int>& left)
        : stream_(std::move(stream)), left_(left) {}
    void record(Event& event) override { stream_->record(event); }
    void wait(Event& event) override { stream_->wait(event); }
    void synchronize() override { stream_->synchronize(); }
    void enqueue(HostTask task) override {
      if (left_-- <= 0) throw BackendError("no more tasks");
      as_host(*stream_).enqueue(task);
    }

   private:
    std::unique_ptr<Stream> stream_;
    std::atomic<int>& left_;
  };
  std::unique_ptr<Device> host_ = make_host_device();
  std::atomic<int> left_;
};

TEST(ComputeLoad, HasWorkOnItsStreamOnceItHasStarted) {
  CountingDevice device(1'000'000);
  ComputeLoad load(device);
  load.start();
  EXPECT_LT(device.left(), 1'000'000);
  load.stop();
}

TEST(ComputeLoad, WhatFailsInItsThreadIsThrownByStop) {
  CountingDevice device(20);
  ComputeLoad load(device);
  load.start();
  while (device.left() >= 0) std::this_thread::yield();
  EXPECT_THAT([&] { load.stop(); },
              testing::ThrowsMessage<BackendError>(HasSubstr("no more tasks")));
  EXPECT_NO_THROW(load.stop());
}

}  // namespace
}  // namespace mergewise
