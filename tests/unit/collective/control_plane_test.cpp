// SPDX-License-Identifier: Apache-2.0
// What a healthy control plane does, with ranks as threads.
#include "bench/collective/control_plane.hpp"

#include "bench/core/error.hpp"
#include "tests/unit/collective/rank_threads.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

namespace mergewise {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

class ControlPlaneOfRanks : public testing::TestWithParam<int> {};

TEST_P(ControlPlaneOfRanks, GathersInRankOrder) {
  run_ranks(GetParam(), [](ControlPlane& control) {
    for (int round = 0; round < 3; ++round) {
      const std::string mine(static_cast<std::size_t>(control.rank()) * 1000, 'a');
      const auto all = control.all_gather(mine);
      ASSERT_EQ(all.size(), static_cast<std::size_t>(control.size()));
      for (std::size_t rank = 0; rank < all.size(); ++rank) {
        EXPECT_EQ(all[rank], std::string(rank * 1000, 'a'));
      }
    }
  });
}

TEST_P(ControlPlaneOfRanks, BroadcastsWhatRank0Has) {
  run_ranks(GetParam(), [](ControlPlane& control) {
    const std::string mine = control.rank() == 0 ? std::string("a\0b", 3) : "something else";
    EXPECT_EQ(control.broadcast(mine), std::string("a\0b", 3));
    EXPECT_EQ(control.broadcast(""), "");
  });
}

TEST_P(ControlPlaneOfRanks, BarrierLetsNobodyPassEarly) {
  std::atomic<int> arrived{0};
  run_ranks(GetParam(), [&](ControlPlane& control) {
    for (int round = 1; round <= 20; ++round) {
      ++arrived;
      control.barrier();
      EXPECT_GE(arrived.load(), round * control.size());
    }
  });
}

TEST_P(ControlPlaneOfRanks, GetWaitsForSet) {
  run_ranks(GetParam(), [](ControlPlane& control) {
    const int next = (control.rank() + 1) % control.size();
    if (control.rank() != 0) {
      EXPECT_EQ(control.get("key 0"), "from 0");
    }
    control.set("key " + std::to_string(control.rank()), "from " + std::to_string(control.rank()));
    EXPECT_EQ(control.get("key " + std::to_string(next)), "from " + std::to_string(next));
    control.barrier();
  });
}

TEST_P(ControlPlaneOfRanks, KnowsThatAllRunOnThisHost) {
  run_ranks(GetParam(), [](ControlPlane& control) {
    EXPECT_TRUE(control.single_host());
    EXPECT_EQ(control.local_address(), "127.0.0.1");
  });
}

TEST_P(ControlPlaneOfRanks, SamplesTheClockThatAllShare) {
  run_ranks(GetParam(), [](ControlPlane& control) {
    const ClockSample sample = control.sample_clock();
    EXPECT_LE(sample.offset_ns, sample.error_ns);
    EXPECT_GE(sample.offset_ns, -sample.error_ns);
    EXPECT_EQ(sample.error_ns > 0, control.rank() != 0);
    control.barrier();
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, ControlPlaneOfRanks, testing::Values(1, 2, 4));

TEST(ControlPlane, CarriesMegabytes) {
  run_ranks(3, [](ControlPlane& control) {
    const std::string mine(5 << 20, static_cast<char>('a' + control.rank()));
    const auto all = control.all_gather(mine);
    EXPECT_TRUE(all[2] == std::string(5 << 20, 'c'));
  });
}

TEST(ControlPlane, RefusesMoreThanItCanCarry) {
  run_ranks(2, [](ControlPlane& control) {
    EXPECT_THAT([&] { control.all_gather(std::string(200 << 20, 'x')); },
                ThrowsMessage<BackendError>(HasSubstr("too many")));
    control.barrier();
  });
}

TEST(ControlPlane, NumbersAreTheSameOnAllRanksThatAskAlike) {
  run_ranks(2, [](ControlPlane& control) {
    EXPECT_EQ(control.numbered("gloo"), "gloo/0");
    EXPECT_EQ(control.numbered("link"), "link/0");
    EXPECT_EQ(control.numbered("gloo"), "gloo/1");
  });
}

TEST(ControlPlane, AKeyThatNobodySetsIsAnErrorAtTheDeadline) {
  run_ranks(
      2,
      [](ControlPlane& control) {
        EXPECT_THAT([&] { control.get("absent"); },
                    ThrowsMessage<BackendError>(HasSubstr("no rank published 'absent'")));
        control.barrier();
      },
      1e9);
}

TEST(ControlPlane, ALonelyRankKnowsAtOnceThatNobodyWillSetAKey) {
  run_ranks(1, [](ControlPlane& control) {
    EXPECT_THROW(control.get("absent"), BackendError);
    EXPECT_EQ(control.report_failure("it broke"), "it broke");
  });
}

TEST(ControlPlane, LeavingIsNotDying) {
  const TemporaryFolder directory;
  const Rendezvous rendezvous{Rendezvous::Kind::kFile, directory.path().string(), "", 0};
  std::atomic<int> failures{0};
  run_threads(3, [&](int rank) {
    const auto control = ControlPlane::connect(identity_of(rank, 3), rendezvous, on_loopback(),
                                               [&](const std::string&) { ++failures; });
    control->barrier();
    // Each leaves when it likes: rank 0 perhaps first.
  });
  EXPECT_EQ(failures, 0);
}

TEST(ControlPlane, LeavesNothingInTheDirectory) {
  const TemporaryFolder directory;
  const Rendezvous rendezvous{Rendezvous::Kind::kFile, directory.path().string(), "", 0};
  run_threads(2, [&](int rank) {
    const auto control =
        ControlPlane::connect(identity_of(rank, 2), rendezvous, on_loopback(), nullptr);
    control->barrier();
    EXPECT_TRUE(std::filesystem::is_empty(directory.path().string()));
    control->barrier();
  });
}

}  // namespace
}  // namespace mergewise
