// SPDX-License-Identifier: Apache-2.0
#include "bench/collective/emulated_link.hpp"

#include "bench/collective/stamp_table.hpp"
#include "bench/core/error.hpp"
#include "bench/device/host/host_device.hpp"
#include "tests/unit/collective/rank_threads.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>

namespace mergewise {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(LinkModel, IsLatencyPlusTwiceTheShareOfTheBits) {
  const LinkModel link{8000, 2.5};
  // 8 ms + 2 * 3/4 * 8 * 1e6 / 2.5 ns
  EXPECT_DOUBLE_EQ(link.all_reduce(1'000'000, 4), 8e6 + 4.8e6);
  EXPECT_DOUBLE_EQ(link.all_reduce(1'000'000, 2), 8e6 + 3.2e6);
}

TEST(LinkModel, ReduceScatterPassesHalfOfThatAndAllGatherWhatTheOthersContribute) {
  const LinkModel link{8000, 2.5};
  EXPECT_DOUBLE_EQ(link.reduce_scatter(1'000'000, 4), 8e6 + 2.4e6);
  // 8 ms + 3 * 8 * 250e3 / 2.5 ns
  EXPECT_DOUBLE_EQ(link.all_gather(250'000, 4), 8e6 + 2.4e6);
}

TEST(LinkModel, CostsNothingForNothingOrForOneRank) {
  const LinkModel link{8000, 2.5};
  EXPECT_EQ(link.reduce_scatter(0, 4), 0);
  EXPECT_EQ(link.reduce_scatter(1'000'000, 1), 0);
  EXPECT_EQ(link.all_gather(0, 4), 0);
  EXPECT_EQ(link.all_gather(1'000'000, 1), 0);
  EXPECT_EQ(link.all_reduce(0, 4), 0);
  EXPECT_EQ(link.all_reduce(1'000'000, 1), 0);
}

/// Ends once every rank has entered, as a collective must, and sums nothing.
class Rendezvousing : public Communicator {
 public:
  explicit Rendezvousing(ControlPlane& control) : control_(control) {}
  [[nodiscard]] std::string id() const override { return "fake"; }
  [[nodiscard]] std::string description() const override { return "fake"; }
  [[nodiscard]] int rank() const override { return control_.rank(); }
  [[nodiscard]] int size() const override { return control_.size(); }
  void all_reduce(std::byte*, std::size_t, DType, Stream& stream) override { meet(stream); }
  void reduce_scatter(float*, std::size_t, Stream& stream) override { meet(stream); }
  void all_gather(float*, std::size_t, Stream& stream) override { meet(stream); }
  void all_gather(const std::byte*, std::size_t, std::byte*, Stream& stream) override {
    meet(stream);
  }
  void all_gather_counted(const std::byte*, const std::uint64_t* bytes, std::size_t, std::byte*,
                          std::uint64_t* received_bytes, Stream& stream) override {
    as_host(stream).enqueue([this, bytes, received_bytes] {
      received_bytes[control_.rank()] = *bytes;
      // What the last rank gives, everybody knows.
      received_bytes[size() - 1] = kOfLast;
      control_.barrier();
    });
  }
  static constexpr std::uint64_t kOfLast = 2'500'000;

 private:
  void meet(Stream& stream) {
    as_host(stream).enqueue([this] { control_.barrier(); });
  }

  ControlPlane& control_;
};

class EmulatedLinkOfRanks : public testing::TestWithParam<int> {};

TEST_P(EmulatedLinkOfRanks, HoldsEachCollectiveFromTheLastArrivalOn) {
  const LinkModel model{20'000, 1e6};
  const int ranks = GetParam();
  std::array<std::array<Stamp, 4>, 3> begun{};
  std::array<std::array<Stamp, 4>, 3> ended{};
  run_ranks(ranks, [&](ControlPlane& control) {
    const auto device = make_host_device();
    const auto stream = device->create_stream(StreamRole::kCommunication);
    Rendezvousing inner(control);
    const auto link = make_emulated_link(&inner, control, model);
    float value = 0;
    const auto rank = static_cast<std::size_t>(control.rank());
    for (std::size_t round = 0; round < 3; ++round) {
      begun[round][rank] = now();
      link->all_reduce(&value, 1, *stream);
      stream->synchronize();
      ended[round][rank] = now();
    }
    EXPECT_EQ(link->counts().collectives, 3);
  });
  for (std::size_t round = 0; round < 3; ++round) {
    const Stamp last = *std::max_element(begun[round].begin(), begun[round].begin() + ranks);
    for (int rank = 0; rank < ranks; ++rank) {
      const Stamp held = ranks > 1 ? 20'000'000 : 0;
      EXPECT_GE(ended[round][static_cast<std::size_t>(rank)], last + held);
    }
  }
}

TEST(EmulatedLink, CountsTheBytesOfTheType) {
  // 10 us + 8 * 2e6 bits over 1 Gbit/s for fp16, twice as many for fp32: between the two.
  run_ranks(2, [](ControlPlane& control) {
    const auto device = make_host_device();
    const auto stream = device->create_stream(StreamRole::kCommunication);
    Rendezvousing inner(control);
    const auto link = make_emulated_link(&inner, control, {10, 1});
    const auto held = [&](DType dtype) {
      control.barrier();
      const Stamp begin = now();
      link->all_reduce(nullptr, 1'000'000, dtype, *stream);
      stream->synchronize();
      return now() - begin;
    };
    EXPECT_GE(held(DType::kFloat16), 16'000'000);
    EXPECT_GE(held(DType::kFloat32), 32'000'000);
  });
}

TEST(EmulatedLink, HoldsUnequalMessagesForTheLargestOfThem) {
  run_ranks(3, [](ControlPlane& control) {
    const auto device = make_host_device();
    const auto stream = device->create_stream(StreamRole::kCommunication);
    Rendezvousing inner(control);
    const auto link = make_emulated_link(&inner, control, {10, 4});
    const std::uint64_t bytes = control.rank() == 2 ? Rendezvousing::kOfLast : 1000;
    std::array<std::uint64_t, 3> received_bytes{};
    control.barrier();
    const Stamp begin = now();
    link->all_gather_counted(nullptr, &bytes, 3'000'000, nullptr, received_bytes.data(), *stream);
    stream->synchronize();
    EXPECT_GE(now() - begin, 10'010'000);  // 2 * 8 * 2.5e6 / 4 ns
    EXPECT_EQ(link->counts().collectives, 1);
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, EmulatedLinkOfRanks, testing::Values(1, 2, 4));

TEST(EmulatedLink, CountsThoseThatTookLongerThanTheModel) {
  run_ranks(2, [](ControlPlane& control) {
    const auto device = make_host_device();
    const auto stream = device->create_stream(StreamRole::kCommunication);
    Rendezvousing inner(control);
    // 1e-3 us can never be kept by a real barrier between threads.
    const auto link = make_emulated_link(&inner, control, {1e-3, 1e9});
    float value = 0;
    for (int round = 0; round < 5; ++round) link->all_reduce(&value, 1, *stream);
    stream->synchronize();
    EXPECT_EQ(link->counts().collectives, 5);
    EXPECT_EQ(link->counts().overran, 5);
  });
}

TEST(EmulatedLink, SendsNothingForNothing) {
  run_ranks(2, [](ControlPlane& control) {
    const auto device = make_host_device();
    const auto stream = device->create_stream(StreamRole::kCommunication);
    Rendezvousing inner(control);
    const auto link = make_emulated_link(&inner, control, {1e6, 1});
    link->all_reduce(nullptr, 0, *stream);
    link->all_gather(nullptr, 0, nullptr, *stream);
    link->all_gather_counted(nullptr, nullptr, 0, nullptr, nullptr, *stream);
    stream->synchronize();
    EXPECT_EQ(link->counts().collectives, 0);
    control.barrier();
  });
}

TEST(EmulatedLink, RanksThatTakeNoPartGetNone) {
  run_ranks(1, [](ControlPlane& control) {
    EXPECT_EQ(make_emulated_link(nullptr, control, {1, 1}), nullptr);
  });
}

TEST(StampTable, LeavesNoFileBehind) {
  run_ranks(3, [](ControlPlane& control) {
    const detail::StampTable table(control, 3);
    control.barrier();
    // The key under which the path was agreed on, which is the first of its kind here.
    const std::string path = control.get("link/3/0/path");
    EXPECT_THAT(path, HasSubstr("/dev/shm/mergewise-"));
    EXPECT_FALSE(std::filesystem::exists(path));
    control.barrier();
  });
}

TEST(StampTable, GivesTheLastArrival) {
  run_ranks(3, [](ControlPlane& control) {
    detail::StampTable table(control, 3);
    for (std::int64_t sequence = 0; sequence < 20; ++sequence) {
      table.arrive(sequence, 100 * sequence + (control.rank() == 1 ? 7 : control.rank()));
      control.barrier();
      EXPECT_EQ(table.last_arrival(sequence), 100 * sequence + 7);
    }
    control.barrier();
  });
}

TEST(StampTable, NoticesARankThatHasNotBegun) {
  run_ranks(2, [](ControlPlane& control) {
    detail::StampTable table(control, 2);
    if (control.rank() == 0) {
      table.arrive(0, 1);
      EXPECT_THAT([&] { (void)table.last_arrival(0); },
                  ThrowsMessage<BackendError>(HasSubstr("rank 1 had not begun it")));
    }
    control.barrier();
  });
}

}  // namespace
}  // namespace mergewise
