// SPDX-License-Identifier: Apache-2.0
// Sums of integer values, which floats hold exactly whatever the order of addition.
#include "tests/contract/communicator/communicator_contract.hpp"

#include "bench/core/error.hpp"
#include "bench/device/host/host_device.hpp"
#include "tests/contract/communicator/members.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace mergewise {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

// The last needs several messages a shard.
constexpr std::size_t kSizes[] = {0, 1, 2, 3, 4, 5, 7, 1023, 1024, 1'000'001, 2'500'003};

/// What rank `rank` puts in at element `i` of a call.
float value(int rank, std::size_t i, int call) {
  return static_cast<float>((static_cast<int>(i % 1000) + 1) * (rank + 1) + call);
}

float sum(int ranks, std::size_t i, int call) {
  float total = 0;
  for (int rank = 0; rank < ranks; ++rank) total += value(rank, i, call);
  return total;
}

float* data_of(Buffer& buffer) { return reinterpret_cast<float*>(buffer.data()); }

void fill(float* data, std::size_t count, int rank, int call) {
  for (std::size_t i = 0; i < count; ++i) data[i] = value(rank, i, call);
}

/// The first element that is not the sum, or `count`.
std::size_t first_wrong(const float* data, std::size_t count, int ranks, int call) {
  for (std::size_t i = 0; i < count; ++i) {
    if (data[i] != sum(ranks, i, call)) return i;
  }
  return count;
}

/// All three collectives of floats, for what they have in common.
using Call = void (Communicator::*)(float* data, std::size_t count, Stream& stream);
constexpr Call kEveryCall[] = {&Communicator::all_reduce, &Communicator::reduce_scatter,
                               &Communicator::all_gather};

TEST_P(CommunicatorContract, KnowsItselfAndItsRanks) {
  run_members(GetParam(), [&](Member& member) {
    EXPECT_EQ(member.communicator.id(), GetParam().back_end.id);
    EXPECT_EQ(member.communicator.rank(), member.control.rank());
    EXPECT_EQ(member.communicator.size(), GetParam().ranks);
    EXPECT_FALSE(member.communicator.description().empty());
    member.control.barrier();
  });
}

TEST_P(CommunicatorContract, SumsExactlyAtEverySize) {
  run_members(GetParam(), [](Member& member) {
    for (const std::size_t count : kSizes) {
      const auto buffer = member.floats(count + 1);
      float* data = data_of(*buffer);
      fill(data, count, member.communicator.rank(), 0);
      data[count] = -5;
      member.communicator.all_reduce(data, count, member.stream);
      member.stream.synchronize();
      EXPECT_EQ(first_wrong(data, count, member.communicator.size(), 0), count);
      EXPECT_EQ(data[count], -5) << "the element behind the range was touched";
    }
  });
}

TEST_P(CommunicatorContract, ScattersTheExactSumsOfEveryShardAtEverySize) {
  run_members(GetParam(), [](Member& member) {
    const int ranks = member.communicator.size();
    for (const std::size_t count : kSizes) {
      // Buffers are aligned to far more than this.
      const auto buffer = member.floats(count + 2);
      float* data = data_of(*buffer) + 1;
      fill(data, count, member.communicator.rank(), 0);
      data[-1] = data[count] = -5;
      member.communicator.reduce_scatter(data, count, member.stream);
      member.stream.synchronize();
      const Shard shard = shard_of(count, member.communicator.rank(), ranks);
      for (std::size_t i = shard.begin; i < shard.begin + shard.count; ++i) {
        ASSERT_EQ(data[i], sum(ranks, i, 0)) << "element " << i << " of " << count;
      }
      EXPECT_EQ(data[-1], -5) << "the element before the range was touched";
      EXPECT_EQ(data[count], -5) << "the element behind the range was touched";
    }
  });
}

TEST_P(CommunicatorContract, GathersEveryShardAtEverySize) {
  run_members(GetParam(), [](Member& member) {
    for (const std::size_t count : kSizes) {
      const auto buffer = member.floats(count + 2);
      float* data = data_of(*buffer) + 1;
      const Shard shard = shard_of(count, member.communicator.rank(), member.communicator.size());
      std::fill_n(data - 1, count + 2, -5.0F);
      for (std::size_t i = shard.begin; i < shard.begin + shard.count; ++i)
        data[i] = value(0, i, 7);
      member.communicator.all_gather(data, count, member.stream);
      member.stream.synchronize();
      EXPECT_EQ(first_wrong(data, count, 1, 7), count);
      EXPECT_EQ(data[-1], -5) << "the element before the range was touched";
      EXPECT_EQ(data[count], -5) << "the element behind the range was touched";
    }
  });
}

TEST_P(CommunicatorContract, ScatteredSumsGatheredAreTheAllReduce) {
  run_members(GetParam(), [](Member& member) {
    const std::vector<std::size_t> slices{1, 3, 0, 64, 1000, 7, 25000, 1};
    const std::size_t total = std::accumulate(slices.begin(), slices.end(), std::size_t{0});
    const auto buffer = member.floats(total);
    float* data = data_of(*buffer);
    for (const int call : {0, 1, 2}) {
      fill(data, total, member.communicator.rank(), call);
      // Without a stop, and the gathers in another order than the reduce-scatters.
      std::size_t begin = 0;
      for (const std::size_t count : slices) {
        member.communicator.reduce_scatter(data + begin, count, member.stream);
        begin += count;
      }
      for (std::size_t i = slices.size(); i-- > 0;) {
        begin -= slices[i];
        member.communicator.all_gather(data + begin, slices[i], member.stream);
      }
      member.stream.synchronize();
      EXPECT_EQ(first_wrong(data, total, member.communicator.size(), call), total);
    }
  });
}

TEST_P(PeersContract, NoCollectiveEndsBeforeAllRanksHaveEnteredIt) {
  for (const Call call : kEveryCall) {
    // One element: all shards but the first are empty.
    for (const int late : {0, GetParam().ranks - 1}) {
      std::atomic<bool> entered{false};
      run_members(GetParam(), [&](Member& member) {
        float value = 1;
        const bool waits = member.communicator.rank() == late;
        if (waits) {
          // Long enough for a rank that does not wait to be through.
          sleep_until(now() + 20'000'000);
          entered = true;
        }
        (member.communicator.*call)(&value, 1, member.stream);
        member.stream.synchronize();
        EXPECT_TRUE(entered) << "rank " << member.communicator.rank();
      });
    }
  }
}

TEST_P(CommunicatorContract, RunsQueuedCallsInOrder) {
  run_members(GetParam(), [](Member& member) {
    constexpr int kCalls = 20;
    constexpr std::size_t kCount = 500;
    const auto buffer = member.floats(kCount);
    float* data = data_of(*buffer);
    for (std::size_t i = 0; i < kCount; ++i) data[i] = 1;
    // Each call multiplies by the number of ranks: 4^11 still is exact.
    const int calls = member.communicator.size() == 1 ? kCalls : 11;
    for (int call = 0; call < calls; ++call) {
      member.communicator.all_reduce(data, kCount, member.stream);
    }
    member.stream.synchronize();
    float expected = 1;
    for (int call = 0; call < calls; ++call) {
      expected *= static_cast<float>(member.communicator.size());
    }
    for (std::size_t i = 0; i < kCount; ++i) ASSERT_EQ(data[i], expected);
  });
}

TEST_P(CommunicatorContract, SumsSlicesOfOneBuffer) {
  run_members(GetParam(), [](Member& member) {
    const std::vector<std::size_t> slices{1, 3, 0, 64, 1000, 7, 25000, 1};
    const std::size_t total = std::accumulate(slices.begin(), slices.end(), std::size_t{0});
    const auto buffer = member.floats(total);
    float* data = data_of(*buffer);
    fill(data, total, member.communicator.rank(), 3);
    std::size_t begin = 0;
    for (const std::size_t count : slices) {
      member.communicator.all_reduce(data + begin, count, member.stream);
      begin += count;
    }
    member.stream.synchronize();
    EXPECT_EQ(first_wrong(data, total, member.communicator.size(), 3), total);
  });
}

TEST_P(CommunicatorContract, SendsNothingForNothing) {
  run_members(GetParam(), [](Member& member) {
    // Only one rank calls: a message would have to be answered.
    if (member.communicator.rank() == 0) {
      for (const Call call : kEveryCall) (member.communicator.*call)(nullptr, 0, member.stream);
    }
    member.stream.synchronize();
    member.control.barrier();
  });
}

TEST_P(CommunicatorContract, StartsOnlyWhenTheStreamGetsThere) {
  run_members(GetParam(), [](Member& member) {
    constexpr std::size_t kCount = 1000;
    const auto compute = member.device.create_stream(StreamRole::kCompute);
    const auto ready = member.device.create_event();
    const auto source = member.floats(kCount);
    const auto buffer = member.floats(kCount);
    fill(data_of(*source), kCount, member.communicator.rank(), 1);
    member.device.copy(*compute, source->data(), buffer->data(), source->size());
    compute->record(*ready);
    member.stream.wait(*ready);
    member.communicator.all_reduce(data_of(*buffer), kCount, member.stream);
    member.stream.synchronize();
    EXPECT_EQ(first_wrong(data_of(*buffer), kCount, member.communicator.size(), 1), kCount);
    compute->synchronize();
  });
}

TEST_P(PeersContract, AFailureSurfacesOnTheStreamAndNamesTheRank) {
  for (const Call call : kEveryCall) {
    run_members(
        GetParam(),
        [call](Member& member) {
          // The last rank never calls: the others run into the deadline.
          if (member.communicator.rank() != member.communicator.size() - 1) {
            float data[2] = {1, 2};
            (member.communicator.*call)(data, 2, member.stream);
            const std::string name = "rank " + std::to_string(member.communicator.rank()) + ":";
            EXPECT_THAT([&] { member.stream.synchronize(); },
                        ThrowsMessage<BackendError>(HasSubstr(name)));
          }
          member.control.barrier();
        },
        1e9);
  }
}

TEST_P(CommunicatorContract, FirstRanksFormACommunicatorOfTheirOwn) {
  const CommunicatorCase& item = GetParam();
  run_ranks(5, [&](ControlPlane& control) {
    const auto device = item.back_end.make_device();
    const auto stream = device->create_stream(StreamRole::kCommunication);
    for (const int call : {0, 1}) {
      const auto communicator = item.back_end.connect(control, item.ranks, kAmple);
      ASSERT_EQ(communicator != nullptr, control.rank() < item.ranks);
      if (communicator != nullptr) {
        std::vector<float> data(100);
        fill(data.data(), data.size(), control.rank(), call);
        communicator->all_reduce(data.data(), data.size(), *stream);
        stream->synchronize();
        EXPECT_EQ(first_wrong(data.data(), data.size(), item.ranks, call), data.size());
      }
      control.barrier();
    }
  });
}

}  // namespace
}  // namespace mergewise
