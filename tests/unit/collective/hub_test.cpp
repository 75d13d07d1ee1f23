// SPDX-License-Identifier: Apache-2.0
// What ranks hear when one fails. A failing rank is played by a bare connection.
#include "bench/collective/control_plane.hpp"
#include "bench/collective/meeting.hpp"
#include "bench/core/error.hpp"
#include "tests/unit/collective/rank_threads.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <mutex>
#include <string>
#include <vector>

namespace mergewise {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::SizeIs;
using testing::ThrowsMessage;

class Failure : public testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<ControlPlane> connect(int rank, int size, Nanoseconds deadline) {
    return ControlPlane::connect(identity_of(rank, size), rendezvous_, on_loopback(deadline),
                                 [this](const std::string& verdict) {
                                   const std::lock_guard lock(mutex_);
                                   verdicts_.push_back(verdict);
                                 });
  }

  /// The connection of a rank that will not behave. Ends without a goodbye.
  [[nodiscard]] detail::Membership join_bare(int rank, int size) {
    return detail::join_rank0(identity_of(rank, size), rendezvous_, on_loopback());
  }

  /// Reads and drops what comes until the other side closes.
  static void drain(detail::Channel& channel) {
    while (channel.receive()) {
      channel.discard();
      std::vector<pollfd> fds{{channel.fd(), POLLIN, 0}};
      detail::poll_until(fds, now() + 1'000'000'000);
    }
  }

  /// Waits for messages; whether one of this kind is among them.
  static bool has(detail::Channel& channel, detail::MessageKind kind) {
    std::vector<pollfd> fds{{channel.fd(), POLLIN, 0}};
    detail::poll_until(fds, now() + 1'000'000'000);
    EXPECT_TRUE(channel.receive());
    while (const auto message = channel.next()) {
      if (message->kind == kind) return true;
    }
    return false;
  }

  TemporaryFolder directory_;
  Rendezvous rendezvous_{Rendezvous::Kind::kFile, directory_.path().string(), "", 0};
  std::mutex mutex_;
  std::vector<std::string> verdicts_;  ///< as the handlers were told
};

TEST_F(Failure, ADeadRankIsNamedToAllOthersWithPhaseAndGroup) {
  run_threads(4, [&](int rank) {
    if (rank == 2) {
      detail::Membership bare = join_bare(2, 4);
      bare.channel.send(detail::MessageKind::kCall, detail::Call{}.encode());  // a barrier
      while (!has(bare.channel, detail::MessageKind::kReply)) {
      }
      return;
    }
    const auto control = connect(rank, 4, kAmple);
    control->set_phase("resnet50 / wfbp, measuring");
    control->set_group(17 + rank);
    EXPECT_THAT(
        [&] {
          control->barrier();
          control->barrier();
        },
        ThrowsMessage<BackendError>(AllOf(HasSubstr("rank 2 died"),
                                          HasSubstr("'resnet50 / wfbp, measuring'"),
                                          HasSubstr("group 17 was in flight"))));
    EXPECT_THAT([&] { control->barrier(); }, ThrowsMessage<BackendError>(HasSubstr("rank 2 died")));
  });
  EXPECT_THAT(verdicts_, AllOf(SizeIs(3), Each(verdicts_.front())));
}

TEST_F(Failure, OutsideOfGroupsTheSurvivorsKnowThePhase) {
  run_threads(2, [&](int rank) {
    if (rank == 1) {
      detail::Membership bare = join_bare(1, 2);
      bare.channel.send(detail::MessageKind::kCall, detail::Call{}.encode());  // a barrier
      while (!has(bare.channel, detail::MessageKind::kReply)) {
      }
      return;
    }
    const auto control = connect(rank, 2, kAmple);
    control->set_phase("calibration");
    EXPECT_THAT(
        [&] {
          control->barrier();
          control->barrier();
        },
        ThrowsMessage<BackendError>(HasSubstr("rank 1 died (its connection closed) during "
                                              "'calibration';")));
  });
}

TEST_F(Failure, ASilentRankIsNamedAsStalled) {
  run_threads(3, [&](int rank) {
    if (rank == 1) {
      detail::Membership bare = join_bare(1, 3);
      return drain(bare.channel);
    }
    const auto control = connect(rank, 3, 2e9);
    EXPECT_THAT(
        [&] { control->barrier(); },
        ThrowsMessage<BackendError>(AllOf(HasSubstr("rank 1 stalled (no sign of life for 1."))));
  });
  EXPECT_THAT(verdicts_, AllOf(SizeIs(2), Each(HasSubstr("rank 1 stalled"))));
}

TEST_F(Failure, TheDeathOfRank0IsNoticedByAllOthers) {
  run_threads(3, [&](int rank) {
    if (rank == 0) {
      (void)detail::gather_ranks(identity_of(0, 3), rendezvous_, on_loopback());
      return;
    }
    const auto control = connect(rank, 3, kAmple);
    control->set_group(5);
    EXPECT_THAT([&] { control->barrier(); }, ThrowsMessage<BackendError>(HasSubstr("rank 0 died")));
  });
  EXPECT_THAT(verdicts_, AllOf(SizeIs(2), Each(HasSubstr("rank 0 died"))));
}

TEST_F(Failure, TheSilenceOfRank0IsNoticedByAllOthers) {
  run_threads(3, [&](int rank) {
    if (rank == 0) {
      auto gathering = detail::gather_ranks(identity_of(0, 3), rendezvous_, on_loopback());
      for (detail::Channel& channel : gathering.channels) drain(channel);
      return;
    }
    const auto control = connect(rank, 3, 2e9);
    EXPECT_THAT([&] { control->barrier(); },
                ThrowsMessage<BackendError>(HasSubstr("rank 0 stalled")));
  });
  EXPECT_THAT(verdicts_, AllOf(SizeIs(2), Each(HasSubstr("rank 0 stalled"))));
}

TEST_F(Failure, AReportBecomesTheVerdictOfAll) {
  run_threads(3, [&](int rank) {
    const auto control = connect(rank, 3, kAmple);
    if (rank == 2) {
      EXPECT_EQ(control->report_failure("gradient 7 is wrong"),
                "rank 2 reports: gradient 7 is wrong");
    }
    EXPECT_THAT([&] { control->barrier(); },
                ThrowsMessage<BackendError>("rank 2 reports: gradient 7 is wrong"));
  });
  EXPECT_THAT(verdicts_, AllOf(SizeIs(3), Each("rank 2 reports: gradient 7 is wrong")));
}

TEST_F(Failure, NoCallIsAnsweredAfterTheVerdict) {
  run_threads(2, [&](int rank) {
    if (rank == 1) {
      detail::Membership bare = join_bare(1, 2);
      bare.channel.send(detail::MessageKind::kReport, "it broke");
      while (!has(bare.channel, detail::MessageKind::kVerdict)) {
      }
      // Rank 0 is told last, and waits in its barrier still.
      bare.channel.send(detail::MessageKind::kCall, detail::Call{}.encode());
      return drain(bare.channel);
    }
    const auto control = connect(rank, 2, kAmple);
    EXPECT_THAT([&] { control->barrier(); },
                ThrowsMessage<BackendError>("rank 1 reports: it broke"));
  });
}

TEST_F(Failure, ADeathExplainsAReportThatCameBefore) {
  std::promise<void> reporting;
  run_threads(3, [&](int rank) {
    if (rank == 2) {
      const detail::Membership bare = join_bare(2, 3);
      reporting.get_future().wait();
      return;
    }
    const auto control = connect(rank, 3, kAmple);
    if (rank == 1) {
      reporting.set_value();
      EXPECT_THAT(control->report_failure("connection reset"), HasSubstr("rank 2 died"));
    }
    EXPECT_THAT([&] { control->barrier(); }, ThrowsMessage<BackendError>(HasSubstr("rank 2 died")));
  });
}

TEST_F(Failure, WhoDoesNotComeToABarrierIsNamedAtTheDeadline) {
  std::promise<void> over;
  auto is_over = over.get_future().share();
  run_threads(3, [&](int rank) {
    const auto control = connect(rank, 3, 2e9);
    if (rank == 2) {
      control->set_phase("computing");
      control->set_group(9);
      is_over.wait();
      return;
    }
    EXPECT_THAT([&] { control->barrier(); },
                ThrowsMessage<BackendError>(
                    AllOf(HasSubstr("wait in a barrier since 2.0 s for rank 2"),
                          HasSubstr("rank 2 is alive during 'computing'"), HasSubstr("group 9"))));
    if (rank == 0) over.set_value();
  });
  EXPECT_THAT(verdicts_, SizeIs(3));
}

TEST_F(Failure, WhoLeftBeforeABarrierIsNamedAtOnce) {
  run_threads(3, [&](int rank) {
    const auto control = connect(rank, 3, kAmple);
    if (rank == 2) return;
    EXPECT_THAT([&] { control->barrier(); },
                ThrowsMessage<BackendError>(HasSubstr("rank 2 left before the others")));
  });
}

TEST_F(Failure, CallsAfterRank0LeftSaySo) {
  std::promise<void> left;
  run_threads(2, [&](int rank) {
    auto control = connect(rank, 2, kAmple);
    if (rank == 0) {
      control.reset();
      return left.set_value();
    }
    left.get_future().wait();
    EXPECT_THAT([&] { control->barrier(); }, ThrowsMessage<BackendError>(HasSubstr("rank 0 left")));
    EXPECT_THAT([&] { control->get("key"); },
                ThrowsMessage<BackendError>(HasSubstr("rank 0 left")));
  });
  EXPECT_THAT(verdicts_, SizeIs(0));
}

TEST_F(Failure, RanksThatMakeDifferentCallsDisagree) {
  run_threads(2, [&](int rank) {
    const auto control = connect(rank, 2, kAmple);
    EXPECT_THAT(
        [&] { rank == 0 ? control->barrier() : void(control->all_gather("x")); },
        ThrowsMessage<BackendError>(AllOf(HasSubstr("the ranks disagree"), HasSubstr("a barrier"),
                                          HasSubstr("an all-gather"))));
  });
}

TEST_F(Failure, ARankThatSpeaksNonsenseIsAsGoodAsDead) {
  run_threads(2, [&](int rank) {
    if (rank == 1) {
      detail::Membership bare = join_bare(1, 2);
      bare.channel.send(detail::MessageKind::kStatus, "nonsense");
      return drain(bare.channel);
    }
    const auto control = connect(rank, 2, kAmple);
    EXPECT_THAT([&] { control->barrier(); }, ThrowsMessage<BackendError>(HasSubstr("rank 1 died")));
  });
}

}  // namespace
}  // namespace mergewise
