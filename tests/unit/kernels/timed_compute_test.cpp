// SPDX-License-Identifier: Apache-2.0
#include "bench/device/host/host_device.hpp"
#include "kernels/compute/compute.hpp"
#include "recording_stream.hpp"
#include "tests/unit/device/allocation_counter.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <stdexcept>

namespace mergewise {
namespace {

TEST(TimedCompute, ZeroTimesEnqueueNothing) {
  const auto compute = make_timed_compute({0, 1}, {0, 1, 0});
  EXPECT_EQ(compute->id(), "timed");
  ASSERT_EQ(compute->forward_steps(), 2U);
  RecordingStream stream;
  compute->resume(stream);
  EXPECT_EQ(stream.queued(), 1U);
  compute->forward(stream, 0);
  compute->backward(stream, 0);
  compute->backward(stream, 2);
  EXPECT_EQ(stream.queued(), 1U);
  compute->forward(stream, 1);
  compute->backward(stream, 1);
  EXPECT_EQ(stream.queued(), 3U);
}

TEST(TimedCompute, TimePassesFromWhereTheStreamReachesResume) {
  const auto compute = make_timed_compute({1e6}, {2e6, 0});
  RecordingStream stream;
  compute->resume(stream);
  compute->forward(stream, 0);
  compute->backward(stream, 0);
  const Stamp begin = now();
  stream.synchronize();
  EXPECT_GE(now() - begin, 3'000'000);
}

TEST(TimedCompute, IsLateWithoutResumeAndOnTimeAgainAfterIt) {
  const auto compute = make_timed_compute({}, {1e6});
  RecordingStream stream;
  Stamp foreign_work_done = 0;
  compute->resume(stream);
  stream.enqueue([&foreign_work_done] {
    sleep_until(now() + 2'000'000);
    foreign_work_done = now();
  });
  compute->resume(stream);
  compute->backward(stream, 0);
  stream.synchronize();
  EXPECT_GE(now() - foreign_work_done, 1'000'000);
}

TEST(TimedCompute, EndsNoEarlierThanItsTimesOnARealStream) {
  const auto device = make_host_device();
  const auto stream = device->create_stream(StreamRole::kCompute);
  const auto begin = device->create_event();
  const auto end = device->create_event();
  const auto compute = make_timed_compute({1e5, 1e5}, std::vector<Nanoseconds>(10, 1e5));
  stream->record(*begin);
  compute->resume(*stream);
  for (std::size_t step = 0; step < 2; ++step) compute->forward(*stream, step);
  for (std::size_t tensor = 0; tensor < 10; ++tensor) compute->backward(*stream, tensor);
  stream->record(*end);
  stream->synchronize();
  EXPECT_GE(end->stamp() - begin->stamp(), 1'200'000);
}

TEST(TimedCompute, MisuseIsABug) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(static_cast<void>(make_timed_compute({-1}, {})), std::logic_error);
  EXPECT_THROW(static_cast<void>(make_timed_compute({}, {kNan})), std::logic_error);
  const auto compute = make_timed_compute({1}, {1});
  RecordingStream stream;
  EXPECT_THROW(compute->forward(stream, 0), std::logic_error) << "no resume() yet";
  compute->resume(stream);
  EXPECT_THROW(compute->forward(stream, 1), std::logic_error);
  EXPECT_THROW(compute->backward(stream, 1), std::logic_error);
}

TEST(TimedCompute, EnqueueingAllocatesNothing) {
  const auto device = make_host_device();
  const auto stream = device->create_stream(StreamRole::kCompute);
  const auto compute = make_timed_compute({1}, {1});
  const auto before = allocation_count();
  for (int i = 0; i < 100; ++i) {
    compute->resume(*stream);
    compute->forward(*stream, 0);
    compute->backward(*stream, 0);
  }
  stream->synchronize();
  EXPECT_EQ(allocation_count() - before, 0);
}

}  // namespace
}  // namespace mergewise
