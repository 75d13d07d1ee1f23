// SPDX-License-Identifier: Apache-2.0
#include "device_contract.hpp"

#include "bench/core/error.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace mergewise {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

constexpr Bytes kSize = 1 << 20;

std::vector<std::byte> filled(int value) {
  return std::vector<std::byte>(kSize, static_cast<std::byte>(value));
}

TEST_P(DeviceContract, SaysWhatItIs) {
  EXPECT_FALSE(device_->id().empty());
  EXPECT_FALSE(device_->description().empty());
}

TEST_P(DeviceContract, BuffersAreAlignedZeroedAndOfTheirSize) {
  const auto stream = device_->create_stream(StreamRole::kCompute);
  for (const Bytes size : {Bytes{1}, Bytes{1000}, kSize}) {
    const auto buffer = device_->allocate(size);
    EXPECT_EQ(buffer->size(), size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer->data()) % 256, 0U);
    std::vector<std::byte> seen(static_cast<std::size_t>(size), std::byte{1});
    device_->copy(*stream, buffer->data(), seen.data(), size);
    stream->synchronize();
    EXPECT_THAT(seen, Each(std::byte{0}));
  }
}

TEST_P(DeviceContract, AnEmptyBufferIsFine) { EXPECT_EQ(device_->allocate(0)->size(), 0); }

TEST_P(DeviceContract, MoreMemoryThanThereIsIsAnErrorThatNamesTheSize) {
  const Bytes size = Bytes{1} << 60;
  try {
    const auto buffer = device_->allocate(size);
    FAIL() << "allocated 1 EiB";
  } catch (const BackendError& error) {
    EXPECT_THAT(error.what(), HasSubstr(std::to_string(size)));
  }
}

TEST_P(DeviceContract, AStreamWorksInOrder) {
  const auto stream = device_->create_stream(StreamRole::kCompute);
  const auto first = device_->allocate(kSize);
  const auto second = device_->allocate(kSize);
  const auto sevens = filled(7);
  std::vector<std::byte> seen(kSize);
  device_->copy(*stream, sevens.data(), first->data(), kSize);
  device_->copy(*stream, first->data(), second->data(), kSize);
  device_->copy(*stream, second->data(), seen.data(), kSize);
  stream->synchronize();
  EXPECT_EQ(seen, sevens);
}

TEST_P(DeviceContract, WaitingForAnEventOrdersTwoStreams) {
  const auto compute = device_->create_stream(StreamRole::kCompute);
  const auto communication = device_->create_stream(StreamRole::kCommunication);
  const auto ready = device_->create_event();
  const auto free = device_->create_event();
  const auto buffer = device_->allocate(kSize);
  std::vector<std::vector<std::byte>> sent;
  for (int round = 0; round < 20; ++round) sent.push_back(filled(round));
  std::vector<std::vector<std::byte>> seen(sent.size(), std::vector<std::byte>(kSize));
  // The same two events every round, as the replay does in every iteration.
  for (std::size_t round = 0; round < sent.size(); ++round) {
    compute->wait(*free);
    device_->copy(*compute, sent[round].data(), buffer->data(), kSize);
    compute->record(*ready);
    communication->wait(*ready);
    device_->copy(*communication, buffer->data(), seen[round].data(), kSize);
    communication->record(*free);
  }
  communication->synchronize();
  EXPECT_EQ(seen, sent);
}

TEST_P(DeviceContract, AnEventThatWasNeverRecordedCountsAsReached) {
  const auto stream = device_->create_stream(StreamRole::kCompute);
  const auto event = device_->create_event();
  event->synchronize();
  stream->wait(*event);
  stream->synchronize();
}

TEST_P(DeviceContract, AHeldStreamGoesOnNotBeforeTheDelayAfterTheEvent) {
  const auto compute = device_->create_stream(StreamRole::kCompute);
  const auto communication = device_->create_stream(StreamRole::kCommunication);
  const auto since = device_->create_event();
  const auto late = device_->create_event();
  const auto never = device_->create_event();
  compute->record(*since);
  for (const Nanoseconds delay : {5e6, 0.0, 8e6}) {
    device_->hold(*communication, *since, delay);
    communication->record(*late);
    communication->synchronize();
    EXPECT_GE(static_cast<Nanoseconds>(late->stamp() - since->stamp()), delay);
  }
  device_->hold(*compute, *since, 20e6);
  compute->record(*late);
  compute->synchronize();
  EXPECT_GE(late->stamp() - since->stamp(), 20'000'000) << "its own stream's event";
  device_->hold(*communication, *never, 1e18);
  communication->synchronize();
}

TEST_P(DeviceContract, SynchronizingAnEventWaitsForTheWorkBeforeIt) {
  const auto stream = device_->create_stream(StreamRole::kCompute);
  const auto event = device_->create_event();
  const auto buffer = device_->allocate(kSize);
  const auto sevens = filled(7);
  std::vector<std::byte> seen(kSize);
  device_->copy(*stream, sevens.data(), buffer->data(), kSize);
  device_->copy(*stream, buffer->data(), seen.data(), kSize);
  stream->record(*event);
  event->synchronize();
  EXPECT_EQ(seen, sevens);
}

TEST_P(DeviceContract, StampsGrowAlongAStreamAndAcrossAWait) {
  const auto compute = device_->create_stream(StreamRole::kCompute);
  const auto communication = device_->create_stream(StreamRole::kCommunication);
  const auto first = device_->create_event();
  const auto second = device_->create_event();
  const auto third = device_->create_event();
  compute->record(*first);
  compute->record(*second);
  communication->wait(*second);
  communication->record(*third);
  communication->synchronize();
  EXPECT_LE(first->stamp(), second->stamp());
  EXPECT_LE(second->stamp(), third->stamp());
  const Stamp before = third->stamp();
  communication->record(*third);
  third->synchronize();
  EXPECT_GE(third->stamp(), before);
}

TEST_P(DeviceContract, DestroyingAStreamFinishesItsWork) {
  const auto event = device_->create_event();
  const auto buffer = device_->allocate(kSize);
  const auto sevens = filled(7);
  std::vector<std::byte> seen(kSize);
  {
    const auto stream = device_->create_stream(StreamRole::kCompute);
    device_->copy(*stream, sevens.data(), buffer->data(), kSize);
    device_->copy(*stream, buffer->data(), seen.data(), kSize);
    stream->record(*event);
  }
  EXPECT_EQ(seen, sevens);
  // The event goes on standing for a record of a stream that is gone.
  event->synchronize();
  const auto other = device_->create_stream(StreamRole::kCommunication);
  other->wait(*event);
  other->synchronize();
}

}  // namespace
}  // namespace mergewise
