// SPDX-License-Identifier: Apache-2.0
#include "bench/replay/race.hpp"

#include "tests/unit/replay/fakes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mergewise {
namespace {

// A model of three tensors on one rank that pretends to be the first of two.
struct Track {
  Track() {
    replayer =
        std::make_unique<Replayer>(*device, communicator, compute, std::vector<Bytes>{8, 4, 4},
                                   Buffers::kSlice, Replayer::GroupHook());
    communicator.gradients = replayer->send_buffer();
    settings.block = 2;
  }
  Race make() {
    return {*control, replayer.get(), plan_from_ends("test", {3}),
            [](const MergePlan&) { return std::uint64_t{1}; }, settings};
  }
  std::unique_ptr<ControlPlane> control = alone();
  std::unique_ptr<Device> device = make_host_device();
  Log log;
  LoggingCompute compute{nullptr};
  PretendedRanks communicator{2, &log, {2, 1, 1}};
  std::unique_ptr<Replayer> replayer;
  RaceSettings settings;
};

TEST(Race, ReplaysEveryProbeBesideTheIncumbentAndRecordsIt) {
  Track track;
  Race race = track.make();
  EXPECT_GE(race.noise(), 0);
  const std::size_t before = track.log.entries().size();
  EXPECT_TRUE(std::isfinite(race.time(plan_from_ends("test", {1, 3}))));
  const auto entries = track.log.entries();
  // Of the groups' 2 elements: verified, two of warm-up, then four rounds of two iterations; those
  // of the incumbent's 4 elements in turn.
  EXPECT_EQ(entries.size() - before, 2 * (1 + 2 + 4 * 2) + 4 * 2U);
  ASSERT_EQ(race.probes().size(), 1U);
  EXPECT_EQ(race.probes()[0].ends, (std::vector<std::size_t>{1, 3}));
  EXPECT_FALSE(race.out_of_budget());
}

TEST(Race, BlocksTakeTurnsAndWhoeverBeginsARoundEndedTheOneBefore) {
  Track track;
  Race race = track.make();
  (void)race.noise();
  const std::size_t before = track.log.entries().size();
  (void)race.time(plan_from_ends("test", {1, 3}));
  std::string rounds;
  const auto entries = track.log.entries();
  // After one iteration of two groups to verify, and two to warm up.
  for (std::size_t i = before + 3 * 2; i < entries.size(); ++i) {
    rounds += entries[i] == "r4" ? 'i' : 'p';
  }
  EXPECT_EQ(rounds,
            "iipppppppp"
            "iiii"
            "pppppppp"
            "ii");
}

TEST(Race, TheIncumbentsOwnPlanIsNotMeasuredAgain) {
  Track track;
  Race race = track.make();
  (void)race.noise();
  const std::size_t before = track.log.entries().size();
  EXPECT_GT(race.time(plan_from_ends("other name", {3})), 0);
  EXPECT_EQ(track.log.entries().size(), before);
  EXPECT_EQ(race.probes().size(), 1U);
}

TEST(Race, WithoutTimeAPlanIsUnknown) {
  Track track;
  track.settings.finish_by = 1;  // long ago
  Race race = track.make();
  EXPECT_TRUE(std::isinf(race.time(plan_from_ends("test", {1, 3}))));
  EXPECT_TRUE(race.out_of_budget());
  EXPECT_TRUE(race.probes().empty());
}

TEST(Race, AStopEndsTheMeasuring) {
  Track track;
  bool stop = false;
  track.settings.stop_requested = [&] { return stop; };
  Race race = track.make();
  (void)race.noise();
  stop = true;
  (void)race.time(plan_from_ends("test", {1, 3}));
  EXPECT_TRUE(race.interrupted());
  const std::size_t before = track.log.entries().size();
  EXPECT_TRUE(std::isinf(race.time(plan_from_ends("test", {2, 3}))));
  EXPECT_EQ(track.log.entries().size(), before);
}

TEST(Race, AStopEndsAProbeBeforeItsNextBlock) {
  Track track;
  std::size_t stop_at = 1000;
  track.settings.stop_requested = [&] { return track.log.entries().size() >= stop_at; };
  Race race = track.make();
  (void)race.noise();
  // Verified and warmed up in three iterations of two groups; the stop comes in the first block.
  const std::size_t before = track.log.entries().size();
  stop_at = before + 3 * 2 + 1;
  EXPECT_TRUE(std::isinf(race.time(plan_from_ends("test", {1, 3}))));
  EXPECT_EQ(track.log.entries().size(), before + 3 * 2 + 2U);
  EXPECT_TRUE(race.probes().empty());
}

TEST(Race, AStopEndsTheReferencesOwnRounds) {
  Track track;
  track.settings.stop_requested = [&] { return track.log.entries().size() >= 2; };
  Race race = track.make();
  EXPECT_EQ(race.noise(), 0);
  EXPECT_EQ(track.log.entries().size(), 1 + 2U) << "verified, and one block of two iterations";
  EXPECT_TRUE(std::isinf(race.time(plan_from_ends("test", {3}))));
}

// A single rank whose budget is what the test says.
class Budgeted : public ControlPlane {
 public:
  explicit Budgeted(const Nanoseconds& left) : left_(left) {}
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 1; }
  [[nodiscard]] std::string local_address() const override { return ""; }
  [[nodiscard]] bool single_host() const override { return true; }
  void barrier() override {}
  // In what Lockstep exchanges, the second number is what is left; hashes are one number alone.
  std::vector<std::string> all_gather(std::string_view mine) override {
    std::string all(mine);
    if (all.size() >= 2 * sizeof left_)
      std::memcpy(all.data() + sizeof left_, &left_, sizeof left_);
    return {all};
  }
  std::string broadcast(std::string_view mine) override { return std::string(mine); }
  void set(const std::string&, std::string_view) override {}
  std::string get(const std::string&) override { return ""; }
  void set_phase(std::string_view) override {}
  void set_group(std::int64_t) override {}
  std::string report_failure(const std::string& message) override { return message; }
  ClockSample sample_clock() override { return {}; }

 private:
  const Nanoseconds& left_;
};

TEST(Race, ABudgetThatEndsInAProbeEndsIt) {
  Track track;
  Nanoseconds left = 1e15;
  track.control = std::make_unique<Budgeted>(left);
  Race race = track.make();
  (void)race.noise();
  ASSERT_FALSE(race.out_of_budget());
  const std::size_t before = track.log.entries().size();
  track.communicator.before_reduce = [&] { left = -1; };
  EXPECT_TRUE(std::isinf(race.time(plan_from_ends("test", {1, 3}))));
  EXPECT_EQ(track.log.entries().size(), before + 2) << "verified only";
  EXPECT_TRUE(race.out_of_budget());
}

TEST(Race, AProbeWithWrongSumsIsUnknown) {
  Track track;
  Race race = track.make();
  (void)race.noise();
  track.communicator.loses_last = true;
  EXPECT_TRUE(std::isinf(race.time(plan_from_ends("test", {1, 3}))));
}

TEST(Race, WrongSumsAreToldAndEndTheSearch) {
  Track track;
  Race race = track.make();
  (void)race.noise();
  EXPECT_EQ(race.failure(), "");
  track.communicator.loses_last = true;
  (void)race.time(plan_from_ends("test", {1, 3}));
  EXPECT_THAT(race.failure(), testing::AllOf(testing::HasSubstr("with 2 groups,"),
                                             testing::HasSubstr("loses gradients")));
  const std::size_t before = track.log.entries().size();
  EXPECT_TRUE(std::isinf(race.time(plan_from_ends("test", {2, 3}))));
  EXPECT_EQ(track.log.entries().size(), before);
}

TEST(Race, WrongSumsOfTheReferenceAreTold) {
  Track track;
  track.communicator.loses_last = true;
  Race race = track.make();
  EXPECT_TRUE(std::isinf(race.time(plan_from_ends("test", {1, 3}))));
  EXPECT_THAT(race.failure(), testing::HasSubstr("with 1 group,"));
}

}  // namespace
}  // namespace mergewise
