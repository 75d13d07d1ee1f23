// SPDX-License-Identifier: Apache-2.0
// What `optimal` says about its borders, and the helper that weighs them for other strategies too.
#include "bench/strategies/explain.hpp"
#include "bench/strategies/optimal.hpp"
#include "tests/unit/strategies/profiles.hpp"

#include <gmock/gmock.h>

namespace mergewise {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

/// One group 24, the optimum {1} {2, 3} 20, all apart 26; after a forward pass of 1000.
TimeModel three_tensors() {
  return TimeModel(test::profile_of({{5, 1}, {1, 5}, {1, 5}}, LinearCost{6, 1}));
}

TEST(ExplainByToggling, ComparesTheIterationWithoutAndWithEachBorder) {
  const Decisions decisions = explain_by_toggling(three_tensors(), {1, 3});
  ASSERT_THAT(decisions, SizeIs(2));
  EXPECT_EQ(decisions[0].border, 1U);
  EXPECT_FALSE(decisions[0].merged);
  EXPECT_EQ(decisions[0].left_value, 1024);
  EXPECT_EQ(decisions[0].right_value, 1020);
  EXPECT_EQ(decisions[0].unit, "ns");
  EXPECT_EQ(decisions[0].why, "merging here would cost time");
  EXPECT_EQ(decisions[1].border, 2U);
  EXPECT_TRUE(decisions[1].merged);
  EXPECT_EQ(decisions[1].left_value, 1020);
  EXPECT_EQ(decisions[1].right_value, 1026);
  EXPECT_EQ(decisions[1].why, "a border here would cost time");
}

TEST(ExplainByToggling, SaysWhereAPlanIsNotTheBest) {
  EXPECT_EQ(explain_by_toggling(three_tensors(), {3})[0].why, "a border here would save time");
  EXPECT_EQ(explain_by_toggling(three_tensors(), {1, 2, 3})[1].why, "merging here would save time");
}

TEST(ExplainByToggling, SaysWhereABorderMakesNoDifference) {
  const TimeModel model(test::profile_of({{0, 5}, {4, 5}}, LinearCost{6, 1}));
  EXPECT_EQ(explain_by_toggling(model, {1, 2})[0].why, "the border makes no difference");
  EXPECT_EQ(explain_by_toggling(model, {2})[0].why, "the border makes no difference");
}

TEST(ExplainByToggling, OfManyTensorsOnlyThePlansBordersAreWeighed) {
  const std::size_t count = kMostExplained + 1;
  const TimeModel model(
      test::profile_of(std::vector<test::Tensor>(count, {4, 1}), LinearCost{6, 1}));
  EXPECT_THAT(explain_by_toggling(model, {100, 1000, count}), SizeIs(2));
  std::vector<std::size_t> apart;
  for (std::size_t end = 1; end <= count; ++end) apart.push_back(end);
  EXPECT_THAT(explain_by_toggling(model, apart), IsEmpty());
}

TEST(OptimalExplains, NoBorderIsBetterToggled) {
  test::Random random(21);
  for (int round = 0; round < 30; ++round) {
    const test::Shape shape{.zero_times = round % 2 == 0, .empty_tensors = round % 3 == 0};
    Profile profile = test::profile_of(random.tensors(60, shape), random.line(shape));
    if (round % 2 == 0) profile.unpack = random.line(shape);
    const auto [plan, decisions] = Optimal().explain(TimeModel(profile), {});
    ASSERT_THAT(decisions, SizeIs(59));
    for (const Decision& decision : decisions) {
      const Nanoseconds kept = decision.merged ? decision.left_value : decision.right_value;
      const Nanoseconds other = decision.merged ? decision.right_value : decision.left_value;
      EXPECT_LE(kept, other * (1 + 1e-12)) << "border " << decision.border;
    }
  }
}

}  // namespace
}  // namespace mergewise
