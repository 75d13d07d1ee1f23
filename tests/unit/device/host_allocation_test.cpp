// SPDX-License-Identifier: Apache-2.0
// After creation, streams and events allocate nothing, on any thread.
#include "bench/device/host/host_device.hpp"
#include "bench/device/host/host_stream.hpp"
#include "tests/unit/device/allocation_counter.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>

namespace mergewise {
namespace {

TEST(HostAllocation, TheCounterCounts) {
  const std::int64_t before = allocation_count();
  const auto something = std::make_unique<int>(1);
  EXPECT_GT(allocation_count(), before);
}

TEST(HostAllocation, EnqueueRecordWaitCopyAndSynchronizeAllocateNothing) {
  const auto device = make_host_device();
  const auto first = device->create_stream(StreamRole::kCompute);
  const auto second = device->create_stream(StreamRole::kCommunication);
  const auto event = device->create_event();
  std::byte from{1};
  std::byte to{0};
  int ran = 0;
  const int rounds = 2 * static_cast<int>(ThreadStream::kRingSize);
  const std::int64_t before = allocation_count();
  for (int i = 0; i < rounds; ++i) {
    as_host(*first).enqueue([&ran] { ++ran; });
    device->copy(*first, &from, &to, 1);
    first->record(*event);
    second->wait(*event);
  }
  second->synchronize();
  event->synchronize();
  first->synchronize();
  EXPECT_EQ(allocation_count() - before, 0);
  EXPECT_EQ(ran, rounds);
  EXPECT_EQ(to, from);
}

}  // namespace
}  // namespace mergewise
