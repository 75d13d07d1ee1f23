// SPDX-License-Identifier: Apache-2.0
#include "bench/device/host/host_stream.hpp"

#include "bench/core/error.hpp"
#include "bench/device/host/host_device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <future>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace mergewise {
namespace {

using ::testing::HasSubstr;
using ::testing::StrEq;

// Holds a stream at one place until opened; outlives the stream's being there.
class Gate {
 public:
  void hold(HostStream& stream) {
    stream.enqueue([this] { opened_.wait(); });
  }
  void open() { open_.set_value(); }

 private:
  std::promise<void> open_;
  std::shared_future<void> opened_ = open_.get_future().share();
};

class HostStreams : public testing::Test {
 protected:
  std::unique_ptr<Stream> make(StreamRole role) { return device_->create_stream(role); }
  static std::string failure_of(Stream& stream) {
    try {
      stream.synchronize();
    } catch (const BackendError& error) {
      return error.what();
    }
    return "";
  }

  std::unique_ptr<Device> device_ = make_host_device();
  std::unique_ptr<Event> event_ = device_->create_event();
  std::unique_ptr<Stream> first_owned_ = make(StreamRole::kCompute);
  std::unique_ptr<Stream> second_owned_ = make(StreamRole::kCommunication);
  std::unique_ptr<Stream> third_owned_ = make(StreamRole::kCommunication);
  HostStream& first_ = as_host(*first_owned_);
  HostStream& second_ = as_host(*second_owned_);
  HostStream& third_ = as_host(*third_owned_);
};

TEST_F(HostStreams, ThreadsAreNamedForDebuggers) {
  std::array<char, 16> name{};
  first_.enqueue([&name] { pthread_getname_np(pthread_self(), name.data(), name.size()); });
  first_.synchronize();
  EXPECT_STREQ(name.data(), "mw-compute");
  second_.enqueue([&name] { pthread_getname_np(pthread_self(), name.data(), name.size()); });
  second_.synchronize();
  EXPECT_STREQ(name.data(), "mw-comm");
}

TEST_F(HostStreams, MoreTasksThanTheRingHoldsRunInOrder) {
  constexpr int kTasks = 3 * static_cast<int>(ThreadStream::kRingSize) + 7;
  std::vector<int> ran;
  ran.reserve(kTasks);
  for (int i = 0; i < kTasks; ++i) {
    first_.enqueue([&ran, i] { ran.push_back(i); });
  }
  first_.synchronize();
  ASSERT_EQ(ran.size(), static_cast<std::size_t>(kTasks));
  for (int i = 0; i < kTasks; ++i) ASSERT_EQ(ran[static_cast<std::size_t>(i)], i);
}

TEST_F(HostStreams, EnqueueingBlocksWhileTheRingIsFull) {
  Gate gate;
  std::atomic<bool> opened = false;
  std::atomic<bool> blocked_until_opened = false;
  gate.hold(first_);
  for (std::size_t i = 1; i < ThreadStream::kRingSize; ++i) {
    first_.enqueue([] {});
  }
  std::promise<void> started;
  std::thread enqueuer([&] {
    started.set_value();
    first_.enqueue([] {});
    blocked_until_opened = opened.load();
  });
  started.get_future().wait();
  opened = true;
  gate.open();
  enqueuer.join();
  first_.synchronize();
  EXPECT_TRUE(blocked_until_opened);
}

TEST_F(HostStreams, FullRingsThatWaitForEachOtherGetThrough) {
  const auto other = device_->create_event();
  int ran = 0;
  for (std::size_t i = 0; i < ThreadStream::kRingSize; ++i) {
    first_.wait(*other);
    first_.record(*event_);
    second_.wait(*event_);
    second_.enqueue([&ran] { ++ran; });
    second_.record(*other);
  }
  second_.synchronize();
  EXPECT_EQ(ran, static_cast<int>(ThreadStream::kRingSize));
}

TEST_F(HostStreams, AWaitRefersToTheLatestRecordBeforeItNotToLaterOnes) {
  Gate gate;
  first_.record(*event_);
  second_.wait(*event_);
  gate.hold(first_);
  first_.record(*event_);
  // Would wait for the gate if the wait had followed the event to its second record.
  second_.synchronize();
  gate.open();
  first_.synchronize();
}

TEST_F(HostStreams, AWaitRefersToTheLatestRecordNotToEarlierOnes) {
  for (int round = 0; round < 200; ++round) {
    Gate gate;
    std::atomic<bool> opened = false;
    bool seen = false;
    first_.record(*event_);
    gate.hold(first_);
    first_.record(*event_);
    second_.wait(*event_);
    second_.enqueue([&] { seen = opened.load(); });
    opened = true;
    gate.open();
    second_.synchronize();
    first_.synchronize();
    EXPECT_TRUE(seen);
  }
}

TEST_F(HostStreams, ReRecordingOnAnotherStreamLeavesAnEarlierWaitAlone) {
  for (int round = 0; round < 200; ++round) {
    Gate gate;
    std::atomic<bool> opened = false;
    bool seen = false;
    gate.hold(first_);
    first_.record(*event_);
    second_.wait(*event_);
    second_.enqueue([&] { seen = opened.load(); });
    third_.record(*event_);
    event_->synchronize();  // of the third stream's record: the first is still held
    const Stamp third_reached = event_->stamp();
    opened = true;
    gate.open();
    second_.synchronize();
    first_.synchronize();
    EXPECT_TRUE(seen);
    EXPECT_EQ(event_->stamp(), third_reached) << "the overtaken record changed the stamp";
  }
}

TEST_F(HostStreams, AStampBeforeTheRecordIsReachedIsABug) {
  EXPECT_THROW(static_cast<void>(event_->stamp()), std::logic_error);
  Gate gate;
  first_.record(*event_);
  first_.synchronize();
  EXPECT_GT(event_->stamp(), 0);
  gate.hold(first_);
  first_.record(*event_);
  EXPECT_THROW(static_cast<void>(event_->stamp()), std::logic_error);
  gate.open();
  first_.synchronize();
}

TEST_F(HostStreams, AFailedTaskSkipsTheLaterTasksAndKeepsItsError) {
  bool ran = false;
  first_.enqueue([] { throw BackendError("the cable is cut"); });
  first_.enqueue([&ran] { ran = true; });
  first_.enqueue([] { throw std::runtime_error("later"); });
  EXPECT_THAT(failure_of(first_), StrEq("the cable is cut"));
  first_.enqueue([&ran] { ran = true; });
  EXPECT_THAT(failure_of(first_), StrEq("the cable is cut"));
  EXPECT_FALSE(ran);
}

TEST_F(HostStreams, WhateverATaskThrowsBecomesABackendErrorThatNamesTheStream) {
  first_.enqueue([] { throw std::runtime_error("no such thing"); });
  EXPECT_THAT(failure_of(first_), HasSubstr("mw-compute failed: no such thing"));
  second_.enqueue([] { throw 42; });
  EXPECT_THAT(failure_of(second_), HasSubstr("mw-comm failed with an unknown exception"));
}

TEST_F(HostStreams, EventsOfAFailedStreamStillComplete) {
  bool ran = false;
  const auto back = device_->create_event();
  first_.enqueue([] { throw BackendError("gone"); });
  first_.record(*event_);
  second_.wait(*event_);
  second_.enqueue([&ran] { ran = true; });
  second_.record(*back);
  first_.wait(*back);
  first_.record(*event_);
  event_->synchronize();
  EXPECT_GE(event_->stamp(), back->stamp()) << "a failed stream still waits";
  second_.synchronize();  // only the stream of the task has failed
  EXPECT_TRUE(ran);
  EXPECT_THAT(failure_of(first_), StrEq("gone"));
}

TEST_F(HostStreams, AFailureThatNobodySawDoesNotDisturbTheDestructor) {
  first_.enqueue([] { throw BackendError("gone"); });
  first_owned_.reset();
}

TEST_F(HostStreams, ATaskThatUsesItsOwnStreamFailsInsteadOfHanging) {
  first_.enqueue([this] { first_.synchronize(); });
  EXPECT_THAT(failure_of(first_), HasSubstr("used its own stream"));
  second_.enqueue([this] { second_.enqueue([] {}); });
  EXPECT_THAT(failure_of(second_), HasSubstr("used its own stream"));
  third_.enqueue([this] { third_.record(*event_); });
  EXPECT_THAT(failure_of(third_), HasSubstr("used its own stream"));
  event_->synchronize();  // was not recorded
}

TEST_F(HostStreams, StreamsAndEventsOfOtherDevicesAreRefused) {
  class OtherEvent : public Event {
    void synchronize() override {}
    [[nodiscard]] Stamp stamp() const override { return 0; }
  } event;
  class OtherStream : public Stream {
    void record(Event&) override {}
    void wait(Event&) override {}
    void synchronize() override {}
  } stream;
  EXPECT_THROW(first_.record(event), std::logic_error);
  EXPECT_THROW(first_.wait(event), std::logic_error);
  EXPECT_THROW(static_cast<void>(as_host(static_cast<Stream&>(stream))), std::logic_error);
}

TEST(SleepUntil, NeverReturnsBeforeTheDeadline) {
  const Stamp deadline = now() + 2'000'000;
  sleep_until(deadline);
  EXPECT_GE(now(), deadline);
  sleep_until(deadline);  // in the past
  sleep_until(0);
}

TEST_F(HostStreams, AHoldByAnEventThatWasRecordedAgainIsAnError) {
  Gate gate;
  first_.record(*event_);
  gate.hold(second_);
  device_->hold(second_, *event_, 0);
  first_.record(*event_);
  gate.open();
  EXPECT_THAT(failure_of(second_), HasSubstr("recorded again"));
}

TEST(StampAfter, IsTheLastStampWhereThereIsNoneSoLate) {
  constexpr Stamp kLast = std::numeric_limits<Stamp>::max();
  EXPECT_EQ(stamp_after(1000, 0), 1000);
  EXPECT_EQ(stamp_after(1000, 2.6), 1003);
  EXPECT_EQ(stamp_after(1000, 9.3e18), kLast);
  EXPECT_EQ(stamp_after(kLast - 10, 1e3), kLast);
  EXPECT_EQ(stamp_after(1000, std::numeric_limits<double>::infinity()), kLast);
}

TEST_F(HostStreams, AFailedStreamIsHeldNoLonger) {
  first_.record(*event_);
  second_.enqueue([] { throw std::runtime_error("broken"); });
  device_->hold(second_, *event_, 1e18);
  EXPECT_THAT(failure_of(second_), HasSubstr("broken"));
}

}  // namespace
}  // namespace mergewise
