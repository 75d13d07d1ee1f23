// SPDX-License-Identifier: Apache-2.0
#include "bench/replay/contest.hpp"

#include "kernels/compress/host_compressor.hpp"
#include "tests/unit/replay/fakes.hpp"
#include "tests/unit/replay/thread_ranks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace mergewise {
namespace {

// Three plans of a model of two tensors on one rank that pretends to be the first of two.
struct Race {
  Race() {
    replayer = std::make_unique<Replayer>(*device, communicator, compute, std::vector<Bytes>{8, 4},
                                          Buffers::kSlice, Replayer::GroupHook());
    communicator.gradients = replayer->send_buffer();
    contestants = {{"a", plan_from_ends("a", {2}), 1},
                   {"b", plan_from_ends("b", {1, 2}), 2},
                   {"c", plan_from_ends("c", {2}), 3}};
    settings.block = 2;
    settings.stopping = {1e-9, 4, 12};  // never narrow enough: all go to the maximum
  }
  ContestResult run(const ContestObserver& observer = {}) {
    return run_contest(*control, replayer.get(), contestants, settings, observer);
  }
  std::unique_ptr<ControlPlane> control = alone();
  std::unique_ptr<Device> device = make_host_device();
  LoggingCompute compute{nullptr};
  PretendedRanks communicator{2, nullptr, {2, 1}};
  std::unique_ptr<Replayer> replayer;
  std::vector<Contestant> contestants;
  ContestSettings settings;
};

TEST(Contest, EveryoneIsVerifiedWarmedUpMeasuredAndSpanned) {
  Race race;
  const ContestResult result = race.run();
  for (const ContestantResult& contestant : result.contestants) {
    EXPECT_TRUE(contestant.verified);
    EXPECT_GE(contestant.warmup_ns.size(), 3 * 2U);
    EXPECT_LE(contestant.warmup_ns.size(), 6 * 2U);
    EXPECT_EQ(contestant.samples_ns.size(), 12U);
    EXPECT_EQ(contestant.stopped, "max");
    ASSERT_TRUE(contestant.breakdown.has_value());
    EXPECT_FALSE(contestant.spans.empty());
  }
  EXPECT_EQ(result.compute_alone_ns.size(), 2U);
  EXPECT_FALSE(result.interrupted);
}

TEST(Contest, EachRoundRunsEveryoneOnceInARandomOrder) {
  Race race;
  const auto order = race.run().order;
  ASSERT_EQ(order.size(), 3 * 6U);
  std::set<std::vector<std::size_t>> rounds;
  for (std::size_t round = 0; round < 6; ++round) {
    std::vector<std::size_t> seen(order.begin() + static_cast<std::ptrdiff_t>(3 * round),
                                  order.begin() + static_cast<std::ptrdiff_t>(3 * round + 3));
    rounds.insert(seen);
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(seen, (std::vector<std::size_t>{0, 1, 2}));
  }
  EXPECT_GT(rounds.size(), 1U);
}

TEST(Contest, TheOrderFollowsFromTheSeed) {
  Race first;
  Race second;
  EXPECT_EQ(first.run().order, second.run().order);
  Race other;
  other.settings.seed = 2;
  EXPECT_NE(first.run().order, other.run().order);
}

TEST(Contest, AWrongSumGetsNoTiming) {
  Race race;
  race.communicator.loses_last = true;
  const ContestResult result = race.run();
  for (const ContestantResult& contestant : result.contestants) {
    EXPECT_FALSE(contestant.verified);
    EXPECT_NE(contestant.failure.find("element"), std::string::npos);
    EXPECT_TRUE(contestant.warmup_ns.empty());
    EXPECT_TRUE(contestant.samples_ns.empty());
    EXPECT_FALSE(contestant.breakdown.has_value());
  }
}

TEST(Contest, WhoFailedBeforeIsNotRun) {
  Race race;
  race.contestants[1].failure = "its search saw a wrong sum";
  const ContestResult result = race.run();
  EXPECT_FALSE(result.contestants[1].verified);
  EXPECT_EQ(result.contestants[1].failure, "its search saw a wrong sum");
  EXPECT_TRUE(result.contestants[1].samples_ns.empty());
  EXPECT_EQ(std::count(result.order.begin(), result.order.end(), 1U), 0);
  EXPECT_EQ(result.contestants[0].samples_ns.size(), 12U);
}

TEST(Contest, AStopIsObeyedAfterTheBlockThatSawIt) {
  Race race;
  std::size_t measured = 0;
  race.settings.stop_requested = [&] { return measured >= 3; };
  const ContestResult result =
      race.run([&](const ContestProgress& progress, const ContestResult& so_far) {
        if (progress.phase == "measuring") measured = so_far.order.size();
      });
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.order.size(), 4U);
  for (const ContestantResult& contestant : result.contestants) {
    EXPECT_EQ(contestant.stopped, "signal");
    EXPECT_FALSE(contestant.breakdown.has_value());
  }
}

TEST(Contest, ABudgetThatIsGoneStopsEverythingButKeepsWhatThereIs) {
  Race race;
  race.settings.finish_by = 1;  // long ago
  const ContestResult result = race.run();
  EXPECT_TRUE(result.out_of_budget);
  EXPECT_FALSE(result.interrupted);
  for (const ContestantResult& contestant : result.contestants) {
    EXPECT_TRUE(contestant.samples_ns.empty());
    EXPECT_EQ(contestant.stopped, "budget");
  }
}

TEST(Contest, NobodyRunsMoreIterationsThanTheMaximum) {
  Race race;
  race.settings.block = 5;
  race.settings.stopping = {1e-9, 4, 7};
  for (const ContestantResult& contestant : race.run().contestants) {
    EXPECT_EQ(contestant.samples_ns.size(), 7U);
  }
}

TEST(Contest, CountsWhatCompressedIterationsSent) {
  Race race;
  for (const ContestantResult& dense : race.run().contestants) {
    EXPECT_FALSE(dense.messages.has_value());
  }
  Meeting meeting(1);
  ThreadRank communicator(meeting, 0);
  const auto compressor = make_host_compressor(compressor_spec("fp16"));
  race.replayer = std::make_unique<Replayer>(
      *race.device, communicator, race.compute, std::vector<Bytes>{8, 4}, Buffers::kSlice,
      Replayer::GroupHook(), Iteration{}, Compression{compressor.get()});
  for (const ContestantResult& result : race.run().contestants) {
    ASSERT_TRUE(result.messages.has_value());
    const auto iterations = static_cast<std::int64_t>(result.warmup_ns.size() + 12 + 4);
    EXPECT_EQ(result.messages->iterations, iterations) << "warm-up, samples and spans";
    EXPECT_EQ(result.messages->bytes, static_cast<std::uint64_t>(iterations) * 3 * 2);
    EXPECT_EQ(result.messages->nans, 0U);
  }
}

}  // namespace
}  // namespace mergewise
