// SPDX-License-Identifier: Apache-2.0
// Ranks that are killed, stopped or never started: the others end by themselves, with exit code 3
// and one sentence that names the culprit. (A hang would be ctest's time-out.)
#include "bench/collective/rank.hpp"
#include "tests/multirank/collective_processes.hpp"
#include "tests/unit/collective/rank_threads.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <string>
#include <vector>

namespace mergewise {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;

constexpr int kRanks = 4;
/// Far beyond what a death takes to be noticed, so that the verdict cannot come from a time-out.
constexpr double kLong = 100;
/// Silence counts after half of it.
constexpr double kShort = 4;

class Fault : public testing::TestWithParam<std::string> {
 protected:
  void start(double deadline_s) {
    for (int rank = 0; rank < kRanks; ++rank) {
      ranks_.emplace_back(rank, kRanks, "file:" + directory_.path().string(), deadline_s,
                          GetParam());
    }
    for (RankProcess& process : ranks_) ASSERT_TRUE(process.says("ready")) << process.output();
  }

  /// All but this rank end with exit code 3, and each has said this.
  template <typename Matcher>
  void expect_verdict_but_of(int culprit, const Matcher& matcher) {
    for (int rank = 0; rank < kRanks; ++rank) {
      if (rank == culprit) continue;
      RankProcess& process = ranks_[static_cast<std::size_t>(rank)];
      EXPECT_EQ(process.wait(), 3) << "rank " << rank;
      EXPECT_THAT(process.output(), matcher) << "rank " << rank;
    }
  }

  TemporaryFolder directory_;
  std::vector<RankProcess> ranks_;
};

TEST_P(Fault, AKilledRankIsNamedToAllOthers) {
  start(kLong);
  ranks_[2].signal(SIGKILL);
  expect_verdict_but_of(2, AllOf(HasSubstr("verdict: rank 2 died (its connection closed) during "
                                           "'test / " +
                                           GetParam() + "'")));
  EXPECT_EQ(ranks_[2].wait(), -SIGKILL);
}

TEST_P(Fault, AKilledRank0IsNamedByAllOthers) {
  start(kLong);
  ranks_[0].signal(SIGKILL);
  expect_verdict_but_of(0, HasSubstr("verdict: rank 0 died (its connection closed)"));
}

TEST_P(Fault, AStoppedRankIsNamedAsStalled) {
  start(kShort);
  ranks_[1].signal(SIGSTOP);
  expect_verdict_but_of(1, HasSubstr("verdict: rank 1 stalled (no sign of life for 2."));
  ranks_[1].signal(SIGCONT);
  EXPECT_EQ(ranks_[1].wait(), 3);
  EXPECT_THAT(ranks_[1].output(), HasSubstr("verdict: rank 1 stalled"));
}

TEST_P(Fault, AStoppedRank0IsNamedAsStalled) {
  start(kShort);
  ranks_[0].signal(SIGSTOP);
  expect_verdict_but_of(0, HasSubstr("verdict: rank 0 stalled (no sign of life for 2."));
}

INSTANTIATE_TEST_SUITE_P(While, Fault, testing::Values("reduce", "idle"),
                         [](const auto& item) { return item.param; });

class Reducing : public Fault {};

TEST_P(Reducing, TheGroupInFlightIsNamed) {
  start(kLong);
  ranks_[3].signal(SIGKILL);
  expect_verdict_but_of(3, ContainsRegex("rank 3 died .* while group [0-9]+ was in flight"));
}

INSTANTIATE_TEST_SUITE_P(While, Reducing, testing::Values("reduce"),
                         [](const auto& item) { return item.param; });

TEST(MissingRank, IsNamedByAllWhoCame) {
  const TemporaryFolder directory;
  std::vector<RankProcess> ranks;
  for (const int rank : {0, 1, 3}) {
    ranks.emplace_back(rank, kRanks, "file:" + directory.path().string(), 2.0, "finish");
  }
  for (RankProcess& process : ranks) {
    EXPECT_EQ(process.wait(), 3);
    EXPECT_THAT(process.output(), HasSubstr("error: rank 2 of 4 did not come to the rendezvous"));
  }
}

TEST(PortInUse, IsNamedAndBadInput) {
  const auto other = detail::listen_on(detail::resolve("127.0.0.1", 0).front());
  const std::string port = std::to_string(detail::local_endpoint(other.get()).port());
  RankProcess rank0(0, 2, "tcp:127.0.0.1:" + port, kLong, "finish");
  EXPECT_EQ(rank0.wait(), 2);
  EXPECT_THAT(rank0.output(), HasSubstr("error: port " + port + " is in use"));
}

TEST(Leftovers, OfAKilledRunDoNoHarm) {
  const TemporaryFolder directory;
  {
    RankProcess killed(0, 2, "file:" + directory.path().string(), kLong, "finish");
    // It has published its address once the file is there.
    while (!std::filesystem::exists(directory.path().string() + "/mergewise-rendezvous")) {
      std::vector<pollfd> none;
      detail::poll_until(none, now() + 1'000'000);
    }
    killed.signal(SIGKILL);
    EXPECT_EQ(killed.wait(), -SIGKILL);
  }
  ASSERT_TRUE(std::filesystem::exists(directory.path().string() + "/mergewise-rendezvous"));
  RankProcess rank1(1, 2, "file:" + directory.path().string(), kLong, "finish");
  RankProcess rank0(0, 2, "file:" + directory.path().string(), kLong, "finish");
  EXPECT_EQ(rank0.wait(), 0) << rank0.output();
  EXPECT_EQ(rank1.wait(), 0) << rank1.output();
  EXPECT_TRUE(std::filesystem::is_empty(directory.path().string()));
}

TEST(Disagreement, OverTheNumberOfRanksIsBadInputEverywhere) {
  const TemporaryFolder directory;
  RankProcess rank0(0, 2, "file:" + directory.path().string(), kLong, "finish");
  RankProcess rank1(1, 3, "file:" + directory.path().string(), kLong, "finish");
  for (RankProcess* process : {&rank0, &rank1}) {
    EXPECT_EQ(process->wait(), 2);
    EXPECT_THAT(process->output(), HasSubstr("says that there are 3 ranks, rank 0 says 2"));
  }
}

}  // namespace
}  // namespace mergewise
