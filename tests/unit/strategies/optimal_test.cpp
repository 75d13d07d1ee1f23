// SPDX-License-Identifier: Apache-2.0
// `optimal` against brute force over all partitions, and its two forms against each other.
#include "bench/strategies/optimal.hpp"

#include "bench/strategies/registry.hpp"
#include "tests/unit/strategies/profiles.hpp"

#include <gmock/gmock.h>

namespace mergewise {
namespace {

using test::expect_same_time;
using ::testing::ElementsAre;

Nanoseconds planned(const TimeModel& model) {
  return predict_iteration(model, Optimal().plan(model, {}));
}

TEST(Optimal, BeatsTheGreedyRuleOnItsSmallestCounterExample) {
  const TimeModel model(test::profile_of({{5, 1}, {1, 5}, {1, 5}}, LinearCost{6, 1}));
  EXPECT_THAT(Optimal().plan(model, {}).ends(), ElementsAre(1, 3));
}

TEST(Optimal, EqualsBruteForceForLinearCosts) {
  test::Random random(1);
  for (const test::Shape& shape : test::all_shapes()) {
    for (int round = 0; round < 60; ++round) {
      const auto tensors = random.tensors(static_cast<std::size_t>(random.integer(1, 12)), shape);
      const TimeModel model(test::profile_of(tensors, random.line(shape)));
      expect_same_time(planned(model), test::brute_force(model));
    }
  }
}

TEST(Optimal, EqualsBruteForceForMeasuredCosts) {
  test::Random random(2);
  for (const test::Shape& shape : test::all_shapes()) {
    for (int round = 0; round < 60; ++round) {
      const auto tensors = random.tensors(static_cast<std::size_t>(random.integer(1, 12)), shape);
      const MeasuredCost cost = random.table(test::total_bytes(tensors));
      const TimeModel model(test::profile_of(tensors, cost));
      expect_same_time(planned(model), test::brute_force(model));
    }
  }
}

TEST(Optimal, EqualsBruteForceForTwelveTensors) {
  test::Random random(3);
  for (int round = 0; round < 40; ++round) {
    const test::Shape shape{.zero_times = true, .empty_tensors = round % 2 == 0};
    const auto tensors = random.tensors(12, shape);
    const CostModel line = random.line(shape);
    const CostModel table = random.table(test::total_bytes(tensors));
    for (const CostModel& cost : {line, table}) {
      const TimeModel model(test::profile_of(tensors, cost));
      expect_same_time(planned(model), test::brute_force(model));
    }
  }
}

TEST(Optimal, EqualsBruteForceForCompressedMessages) {
  test::Random random(4);
  for (int round = 0; round < 200; ++round) {
    const test::Shape shape{.empty_tensors = true};
    const auto tensors = random.tensors(static_cast<std::size_t>(random.integer(1, 11)), shape);
    Profile profile = test::profile_of(tensors, CostModel{});
    profile.all_gather = profile.all_reduce;
    profile.all_gather->isolated = random.line(shape);
    profile.compressor = "topk";
    profile.density = 0.01;
    profile.compressors["topk"] = {};
    const TimeModel model(profile);
    expect_same_time(planned(model), test::brute_force(model));
  }
}

TEST(Optimal, LinearFormEqualsAnyCostForm) {
  test::Random random(5);
  for (const test::Shape& shape : test::all_shapes()) {
    for (int round = 0; round < 15; ++round) {
      const auto tensors = random.tensors(static_cast<std::size_t>(random.integer(1, 400)), shape);
      const LinearCost line = random.line(shape);
      const TimeModel model(test::profile_of(tensors, line));
      expect_same_time(predict_iteration(model, detail::optimal_ends_linear(model, line)),
                       predict_iteration(model, detail::optimal_ends_any_cost(model)));
    }
  }
}

TEST(Optimal, NoStrategyBeatsIt) {
  test::Random random(6);
  for (const test::Shape& shape : test::all_shapes()) {
    for (int round = 0; round < 20; ++round) {
      const auto tensors = random.tensors(static_cast<std::size_t>(random.integer(1, 200)), shape);
      const CostModel line = random.line(shape);
      const CostModel table = random.table(test::total_bytes(tensors));
      for (const CostModel& cost : {line, table}) {
        const TimeModel model(test::profile_of(tensors, cost));
        const Nanoseconds least = planned(model);
        for (const std::string& id : strategy_ids()) {
          const auto strategy = make_strategy(id);
          if (!strategy->within_optimal()) continue;
          const Nanoseconds other = predict_iteration(model, strategy->plan(model, {}));
          EXPECT_GE(other, least * (1 - test::kRounding)) << id;
        }
      }
    }
  }
}

TEST(Optimal, FreeCommunicationIsHidden) {
  const TimeModel model(test::profile_of({{4, 10}, {8, 20}}, LinearCost{0, 0}));
  EXPECT_EQ(planned(model), 1030);
}

TEST(Optimal, WithoutStartUpNothingIsMerged) {
  const TimeModel model(test::profile_of({{4, 10}, {8, 20}, {4, 1}}, LinearCost{0, 1}));
  EXPECT_EQ(planned(model), predict_iteration(model, std::vector<std::size_t>{1, 2, 3}));
}

TEST(Optimal, WithoutSlopeOneGroupIsAsGoodAsAny) {
  const TimeModel model(test::profile_of({{4, 10}, {8, 0}, {4, 99}}, LinearCost{100, 0}));
  EXPECT_EQ(planned(model), predict_iteration(model, std::vector<std::size_t>{3}));
}

TEST(Optimal, EmptyTensorsJoinTheNextThatHasBytes) {
  const TimeModel model(
      test::profile_of({{0, 5}, {400, 5}, {0, 500}, {0, 5}, {4, 5}, {0, 9}}, LinearCost{10, 1}));
  EXPECT_THAT(Optimal().plan(model, {}).ends(), ElementsAre(2, 5, 6));
}

TEST(Optimal, OnlyEmptyTensorsAreOneGroup) {
  const TimeModel model(test::profile_of({{0, 5}, {0, 5}}, LinearCost{10, 1}));
  EXPECT_THAT(Optimal().plan(model, {}).ends(), ElementsAre(2));
}

}  // namespace
}  // namespace mergewise
