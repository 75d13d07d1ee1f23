// SPDX-License-Identifier: Apache-2.0
// After creation, streams and events allocate nothing, on any thread.
#include "bench/device/host/host_device.hpp"
#include "bench/device/host/host_stream.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace {

// Of the whole program: replaced operators cannot reach a test's own members.
std::atomic<std::int64_t> allocations = 0;

void* counted(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace mergewise {
namespace {

TEST(HostAllocation, TheCounterCounts) {
  const std::int64_t before = allocations;
  const auto something = std::make_unique<int>(1);
  EXPECT_GT(allocations, before);
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
  const std::int64_t before = allocations;
  for (int i = 0; i < rounds; ++i) {
    as_host(*first).enqueue([&ran] { ++ran; });
    device->copy(*first, &from, &to, 1);
    first->record(*event);
    second->wait(*event);
  }
  second->synchronize();
  event->synchronize();
  first->synchronize();
  EXPECT_EQ(allocations - before, 0);
  EXPECT_EQ(ran, rounds);
  EXPECT_EQ(to, from);
}

}  // namespace
}  // namespace mergewise
