// SPDX-License-Identifier: Apache-2.0
// What carries compressed gradients: sums of halves, and all-gathers of bytes, as many on all ranks
// or not.
#include "bench/core/error.hpp"
#include "bench/device/host/host_device.hpp"
#include "tests/contract/communicator/members.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace mergewise {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::byte kUntouched{0xA5};

/// Byte i of what a rank gives in a call.
std::byte given(int rank, std::size_t i, int call) {
  return static_cast<std::byte>((i * 31 + i / 251 + static_cast<std::size_t>(rank) * 17 +
                                 static_cast<std::size_t>(call) * 101) &
                                0xFF);
}

std::vector<std::byte> message(int rank, std::size_t bytes, int call) {
  std::vector<std::byte> all(bytes);
  for (std::size_t i = 0; i < bytes; ++i) all[i] = given(rank, i, call);
  return all;
}

/// Index of the first byte that is not the rank's, or `bytes`.
std::size_t first_wrong(const std::byte* received, int rank, std::size_t bytes, int call) {
  for (std::size_t i = 0; i < bytes; ++i) {
    if (received[i] != given(rank, i, call)) return i;
  }
  return bytes;
}

/// How many bytes a rank gives in a call: other ones everywhere, none on some, all on others.
std::size_t counted(int rank, std::size_t capacity, int call) {
  switch ((rank + call) % 4) {
    case 0:
      return 0;
    case 1:
      return capacity;
    case 2:
      return capacity / 3;
    default:
      return std::min<std::size_t>(capacity, 1);
  }
}

/// Small integers as halves of both formats: exact in sums of five.
std::uint16_t half_of(DType dtype, int integer) {
  // 0 to 15, by their definition: sign, exponent, mantissa.
  if (integer == 0) return 0;
  int exponent = 0;
  while ((2 << exponent) <= integer) ++exponent;
  const bool fp16 = dtype == DType::kFloat16;
  const int mantissa_bits = fp16 ? 10 : 7;
  const int mantissa = (integer - (1 << exponent)) << (mantissa_bits - exponent);
  return static_cast<std::uint16_t>(((exponent + (fp16 ? 15 : 127)) << mantissa_bits) | mantissa);
}

/// Buffers of a counted all-gather.
struct Counted {
  Counted(Member& member, std::size_t most)
      : capacity(most),
        received(static_cast<std::size_t>(member.communicator.size()) * most + 1, kUntouched),
        sizes(static_cast<std::size_t>(member.communicator.size()), 999) {}

  // `mine` lives until the stream is idle.
  void enqueue(Member& member, const std::vector<std::byte>& mine) {
    bytes = mine.size();
    member.communicator.all_gather_counted(mine.data(), &bytes, capacity, received.data(),
                                           sizes.data(), member.stream);
  }
  void check(int call) const {
    for (std::size_t rank = 0; rank < sizes.size(); ++rank) {
      const int number = static_cast<int>(rank);
      ASSERT_EQ(sizes[rank], counted(number, capacity, call)) << "of rank " << rank;
      const std::byte* block = received.data() + rank * capacity;
      ASSERT_EQ(first_wrong(block, number, sizes[rank], call), sizes[rank]) << "of rank " << rank;
      for (std::size_t i = sizes[rank]; i < capacity; ++i) {
        ASSERT_EQ(block[i], kUntouched) << "behind what rank " << rank << " gave";
      }
    }
    EXPECT_EQ(received.back(), kUntouched) << "the byte behind the range was touched";
  }

  std::size_t capacity;
  std::uint64_t bytes = 0;
  std::vector<std::byte> received;
  std::vector<std::uint64_t> sizes;
};

TEST_P(CommunicatorContract, SumsHalves) {
  run_members(GetParam(), [](Member& member) {
    const int ranks = member.communicator.size();
    for (const DType dtype : {DType::kFloat16, DType::kBfloat16}) {
      for (const std::size_t count : {1U, 2U, 3U, 5U, 1023U, 2'000'003U}) {
        std::vector<std::uint16_t> data(count + 1, 0x1234);
        const auto value = [](int rank, std::size_t i) {
          return static_cast<int>((i + static_cast<std::size_t>(rank)) % 3);
        };
        for (std::size_t i = 0; i < count; ++i) {
          data[i] = half_of(dtype, value(member.communicator.rank(), i));
        }
        member.communicator.all_reduce(reinterpret_cast<std::byte*>(data.data()), count, dtype,
                                       member.stream);
        member.stream.synchronize();
        for (std::size_t i = 0; i < count; ++i) {
          int sum = 0;
          for (int rank = 0; rank < ranks; ++rank) sum += value(rank, i);
          ASSERT_EQ(data[i], half_of(dtype, sum)) << "element " << i << " of " << count;
        }
        EXPECT_EQ(data[count], 0x1234) << "the element behind the range was touched";
      }
    }
  });
}

TEST_P(CommunicatorContract, RoundsHalvesAfterEachAdditionAlikeOnAllRanks) {
  std::array<std::array<std::uint16_t, 64>, 5> results{};
  run_members(GetParam(), [&](Member& member) {
    const auto rank = static_cast<std::size_t>(member.communicator.rank());
    // 2048, and 1 of each other rank: alone each is lost (ties to even), together they are not. A
    // ring begins each shard on another rank.
    results[rank].fill(rank == 0 ? 0x6800 : 0x3C00);
    member.communicator.all_reduce(reinterpret_cast<std::byte*>(results[rank].data()),
                                   results[rank].size(), DType::kFloat16, member.stream);
    member.stream.synchronize();
  });
  for (int rank = 1; rank < GetParam().ranks; ++rank) {
    EXPECT_EQ(results[static_cast<std::size_t>(rank)], results[0]);
  }
  // The first sums are between 2048 (every 1 was lost) and 2052 (none).
  for (const std::uint16_t half : results[0]) {
    EXPECT_GE(half, 0x6800);
    EXPECT_LE(half, 0x6802);
  }
}

TEST_P(CommunicatorContract, GathersMessagesInTheOrderOfRanks) {
  run_members(GetParam(), [](Member& member) {
    const auto ranks = static_cast<std::size_t>(member.communicator.size());
    for (const std::size_t bytes : {1U, 3U, 8U, 1000U, 1'000'003U}) {
      const auto mine = message(member.communicator.rank(), bytes, 2);
      std::vector<std::byte> received(ranks * bytes + 1, kUntouched);
      member.communicator.all_gather(mine.data(), bytes, received.data(), member.stream);
      member.stream.synchronize();
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        ASSERT_EQ(first_wrong(received.data() + rank * bytes, static_cast<int>(rank), bytes, 2),
                  bytes)
            << "of rank " << rank;
      }
      EXPECT_EQ(received.back(), kUntouched) << "the byte behind the range was touched";
    }
  });
}

TEST_P(CommunicatorContract, GathersAsManyBytesAsEachRankGives) {
  run_members(GetParam(), [](Member& member) {
    for (const std::size_t capacity : {1U, 2U, 100U, 1'000'003U}) {
      for (const int call : {0, 1, 2, 3}) {
        const int rank = member.communicator.rank();
        Counted gather(member, capacity);
        const auto mine = message(rank, counted(rank, capacity, call), call);
        gather.enqueue(member, mine);
        member.stream.synchronize();
        gather.check(call);
      }
    }
  });
}

TEST_P(CommunicatorContract, GathersNothingWhereNobodyGivesAnything) {
  run_members(GetParam(), [](Member& member) {
    Counted gather(member, 10);
    const std::vector<std::byte> nothing;
    gather.enqueue(member, nothing);
    member.stream.synchronize();
    for (const std::uint64_t size : gather.sizes) EXPECT_EQ(size, 0U);
    for (const std::byte byte : gather.received) EXPECT_EQ(byte, kUntouched);
  });
}

TEST_P(CommunicatorContract, ReadsTheSizeWhenTheStreamGetsThere) {
  run_members(GetParam(), [](Member& member) {
    const int rank = member.communicator.rank();
    const auto compute = member.device.create_stream(StreamRole::kCompute);
    const auto ready = member.device.create_event();
    Counted gather(member, 1000);
    std::vector<std::byte> mine(1000, kUntouched);
    // What the compressor does, some time after all was enqueued.
    std::atomic<bool> enqueued{false};
    struct Work {
      std::vector<std::byte>& mine;
      Counted& gather;
      std::atomic<bool>& enqueued;
      int rank;
    } work{mine, gather, enqueued, rank};
    as_host(*compute).enqueue([work = &work] {
      while (!work->enqueued) sleep_until(now() + 100'000);
      const auto made = message(work->rank, counted(work->rank, 1000, 1), 1);
      std::copy(made.begin(), made.end(), work->mine.begin());
      work->gather.bytes = made.size();
    });
    compute->record(*ready);
    member.stream.wait(*ready);
    gather.bytes = 1'000'000;  // no longer true once it counts
    member.communicator.all_gather_counted(mine.data(), &gather.bytes, gather.capacity,
                                           gather.received.data(), gather.sizes.data(),
                                           member.stream);
    enqueued = true;
    member.stream.synchronize();
    gather.check(1);
    compute->synchronize();
  });
}

TEST_P(CommunicatorContract, KeepsTheOrderAmongCollectivesOfAllKinds) {
  run_members(GetParam(), [](Member& member) {
    const int rank = member.communicator.rank();
    const auto ranks = static_cast<std::size_t>(member.communicator.size());
    constexpr std::size_t kBytes = 999;
    constexpr int kCalls = 8;
    // Without a stop; each call has other values, so that one in another's place shows.
    std::vector<float> sums(kCalls);
    std::vector<std::vector<std::byte>> sent;
    std::vector<std::vector<std::byte>> gathered(
        kCalls, std::vector<std::byte>(ranks * kBytes, kUntouched));
    std::vector<std::vector<std::byte>> sent_counted;
    std::vector<Counted> counts(kCalls, Counted(member, kBytes));
    for (int call = 0; call < kCalls; ++call) {
      const auto at = static_cast<std::size_t>(call);
      sums[at] = static_cast<float>(rank + 1 + call);
      sent.push_back(message(rank, kBytes, call));
      sent_counted.push_back(message(rank, counted(rank, kBytes, call), call));
      member.communicator.all_reduce(&sums[at], 1, member.stream);
      member.communicator.all_gather(sent.back().data(), kBytes, gathered[at].data(),
                                     member.stream);
      counts[at].enqueue(member, sent_counted.back());
    }
    member.stream.synchronize();
    const auto p = static_cast<float>(ranks);
    for (int call = 0; call < kCalls; ++call) {
      const auto at = static_cast<std::size_t>(call);
      EXPECT_EQ(sums[at], p * (p + 1) / 2 + p * static_cast<float>(call));
      for (std::size_t other = 0; other < ranks; ++other) {
        EXPECT_EQ(first_wrong(gathered[at].data() + other * kBytes, static_cast<int>(other), kBytes,
                              call),
                  kBytes);
      }
      counts[at].check(call);
    }
  });
}

TEST_P(CommunicatorContract, SendsNoMessagesOfNothing) {
  run_members(GetParam(), [](Member& member) {
    // Only one rank calls: a message would have to be answered.
    if (member.communicator.rank() == 0) {
      member.communicator.all_reduce(nullptr, 0, DType::kFloat16, member.stream);
      member.communicator.all_gather(nullptr, 0, nullptr, member.stream);
      member.communicator.all_gather_counted(nullptr, nullptr, 0, nullptr, nullptr, member.stream);
    }
    member.stream.synchronize();
    member.control.barrier();
  });
}

TEST_P(CommunicatorContract, AMessageBeyondItsRoomFailsOnAllRanksAndNamesTheOne) {
  run_members(GetParam(), [](Member& member) {
    const int last = member.communicator.size() - 1;
    Counted gather(member, 100);
    const auto mine = message(0, member.communicator.rank() == last ? 101 : 5, 0);
    gather.enqueue(member, mine);
    const std::string text = "rank " + std::to_string(last) + " gives 101 bytes";
    EXPECT_THAT([&] { member.stream.synchronize(); }, ThrowsMessage<BackendError>(HasSubstr(text)));
    EXPECT_EQ(gather.received.back(), kUntouched);
    member.control.barrier();
  });
}

/// The new collectives, each of one small message.
using Send = void (*)(Communicator&, std::array<std::uint64_t, 8>& memory, Stream& stream);
constexpr Send kEverySend[] = {
    [](Communicator& communicator, std::array<std::uint64_t, 8>& memory, Stream& stream) {
      communicator.all_reduce(reinterpret_cast<std::byte*>(memory.data()), 1, DType::kBfloat16,
                              stream);
    },
    [](Communicator& communicator, std::array<std::uint64_t, 8>& memory, Stream& stream) {
      const auto* mine = reinterpret_cast<const std::byte*>(memory.data());
      communicator.all_gather(mine, 1, reinterpret_cast<std::byte*>(memory.data() + 1), stream);
    },
    [](Communicator& communicator, std::array<std::uint64_t, 8>& memory, Stream& stream) {
      // 0 bytes of one at the most.
      const auto* mine = reinterpret_cast<const std::byte*>(memory.data());
      communicator.all_gather_counted(mine, memory.data(), 1,
                                      reinterpret_cast<std::byte*>(memory.data() + 1),
                                      memory.data() + 2, stream);
    },
};

TEST_P(PeersContract, NoMessageArrivesBeforeAllRanksHaveSentTheirs) {
  for (const Send send : kEverySend) {
    for (const int late : {0, GetParam().ranks - 1}) {
      std::atomic<bool> entered{false};
      run_members(GetParam(), [&](Member& member) {
        std::array<std::uint64_t, 8> memory{};
        if (member.communicator.rank() == late) {
          // Long enough for a rank that does not wait to be through.
          sleep_until(now() + 20'000'000);
          entered = true;
        }
        send(member.communicator, memory, member.stream);
        member.stream.synchronize();
        EXPECT_TRUE(entered) << "rank " << member.communicator.rank();
      });
    }
  }
}

TEST_P(PeersContract, AMissingMessageFailsTheStreamAndNamesTheRank) {
  for (const Send send : kEverySend) {
    run_members(
        GetParam(),
        [send](Member& member) {
          // The last rank never calls: the others run into the deadline.
          if (member.communicator.rank() != member.communicator.size() - 1) {
            std::array<std::uint64_t, 8> memory{};
            send(member.communicator, memory, member.stream);
            const std::string name = "rank " + std::to_string(member.communicator.rank()) + ":";
            EXPECT_THAT([&] { member.stream.synchronize(); },
                        ThrowsMessage<BackendError>(HasSubstr(name)));
          }
          member.control.barrier();
        },
        1e9);
  }
}

}  // namespace
}  // namespace mergewise
