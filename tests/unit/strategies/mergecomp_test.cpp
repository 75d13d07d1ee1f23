// SPDX-License-Identifier: Apache-2.0
#include "bench/strategies/mergecomp.hpp"

#include "bench/core/error.hpp"
#include "bench/strategies/optimal.hpp"
#include "tests/unit/strategies/profiles.hpp"
#include "tests/unit/strategies/searching.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace mergewise {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::SizeIs;

Options groups(std::int64_t most) { return Options({{"max_groups", most}}); }

TimeModel equal_tensors(std::size_t count) {
  return TimeModel(test::profile_of(std::vector<test::Tensor>(count, {4, 10}), LinearCost{1, 1}));
}

TimeModel golden(int index) {
  const std::filesystem::path folder =
      std::filesystem::path(MERGEWISE_SOURCE_DIR) / "tests" / "golden" / "planner";
  return TimeModel(load_profile(folder / ("linear_161_" + std::to_string(index) + ".json")));
}

/// How long an iteration takes with two groups whose border is `border`; one group takes 100.
auto two_groups(std::function<Nanoseconds(std::size_t)> time) {
  return [time = std::move(time)](const std::vector<std::size_t>& ends) {
    return ends.size() == 1 ? 100 : time(ends.front());
  };
}

TEST(Mergecomp, FindsTheBorderOfTwoGroupsByBisection) {
  const TimeModel model = equal_tensors(161);
  for (const std::size_t best : {1U, 2U, 57U, 80U, 159U, 160U}) {
    test::Asked evaluator(two_groups([&](std::size_t border) {
      return 50 + 0.1 * std::abs(static_cast<double>(border) - static_cast<double>(best));
    }));
    EXPECT_THAT(Mergecomp().search(model, {}, evaluator).ends(), ElementsAre(best, 161));
    EXPECT_LE(evaluator.asked.size(), 16U) << "border " << best;
    EXPECT_FALSE(evaluator.repeated);
    EXPECT_THAT(evaluator.asked, Each(SizeIs(::testing::Le(2U))));
  }
}

TEST(Mergecomp, KeepsOneGroupWhenNoBorderWins) {
  test::Asked evaluator(two_groups([](std::size_t) { return 100; }));
  EXPECT_THAT(Mergecomp().search(equal_tensors(40), {}, evaluator).ends(), ElementsAre(40));
}

TEST(Mergecomp, AGainWithinTheNoiseIsNone) {
  for (const double noise : {0.04, 0.06}) {
    test::Asked evaluator(two_groups([](std::size_t) { return 95; }), noise);
    EXPECT_THAT(Mergecomp().search(equal_tensors(40), {}, evaluator).ends(),
                SizeIs(noise < 0.05 ? 2 : 1));
  }
}

TEST(Mergecomp, GroupsAreAsManyAsAllowed) {
  // Each border saves a tenth of what is left.
  const auto saves = [](const std::vector<std::size_t>& ends) {
    return 1000 * std::pow(0.9, static_cast<double>(ends.size()));
  };
  for (const std::int64_t most : {1, 2, 3, 4, 7, 500}) {
    test::Asked evaluator(saves);
    EXPECT_THAT(Mergecomp().search(equal_tensors(20), groups(most), evaluator).ends(),
                SizeIs(std::min<std::int64_t>(most, 20)));
    EXPECT_FALSE(evaluator.repeated);
  }
}

TEST(Mergecomp, EndsOnceMoreGroupsGainTooLittleButKeepsThem) {
  // 50 with two groups, then a little less with each further one: never a twentieth.
  const auto time = [](const std::vector<std::size_t>& ends) {
    return ends.size() == 1 ? 100 : 50 - 0.1 * static_cast<double>(ends.size() - 2);
  };
  test::Asked evaluator(time);
  EXPECT_THAT(Mergecomp().search(equal_tensors(64), groups(64), evaluator).ends(), SizeIs(4));
  Options patient = groups(64);
  patient.set("min_gain", 0.0);
  EXPECT_THAT(Mergecomp().search(equal_tensors(64), patient, evaluator).ends(), SizeIs(64));
}

TEST(Mergecomp, ABorderThatMakesNoDifferenceGoesInTheMiddle) {
  // Two groups are best with 80 and 81 units; where the third begins is all the same.
  const auto time = [](const std::vector<std::size_t>& ends) {
    if (ends.size() != 2) return ends.size() == 1 ? 200.0 : 45.0;
    return 50 + std::abs(static_cast<double>(ends.front()) - 80);
  };
  test::Asked evaluator(time);
  const auto ends = Mergecomp().search(equal_tensors(161), groups(3), evaluator).ends();
  ASSERT_THAT(ends, SizeIs(3));
  EXPECT_NEAR(static_cast<double>(ends[0]), 40, 40.0 / 3);
}

TEST(Mergecomp, TakesFewProbesFor161Tensors) {
  for (int profile = 0; profile < 4; ++profile) {
    const TimeModel model = golden(profile);
    test::Asked two(model);
    static_cast<void>(Mergecomp().search(model, groups(2), two));
    EXPECT_LE(two.asked.size(), 16U) << profile;
    EXPECT_FALSE(two.repeated);
    test::Asked four(model);
    static_cast<void>(Mergecomp().search(model, groups(4), four));
    EXPECT_LE(four.asked.size(), 120U) << profile;
    EXPECT_FALSE(four.repeated);
  }
}

TEST(Mergecomp, TakesFewProbesWhateverTheAnswers) {
  // Answers without sense: hashes of the plan, so that no search direction is ever right twice.
  const TimeModel model = equal_tensors(161);
  for (std::size_t seed = 0; seed < 200; ++seed) {
    const auto hash = [seed](const std::vector<std::size_t>& ends) {
      std::size_t state = 0x9E3779B97F4A7C15U * (seed + 1);
      for (const std::size_t end : ends) state = (state ^ end) * 0xBF58476D1CE4E5B9U;
      // More groups are faster, so that nothing ends the search.
      return 1e6 / static_cast<double>(ends.size()) + static_cast<double>(state >> 60U);
    };
    test::Asked two(hash);
    static_cast<void>(Mergecomp().search(model, groups(2), two));
    EXPECT_LE(two.asked.size(), 16U);
    test::Asked four(hash);
    static_cast<void>(Mergecomp().search(model, groups(4), four));
    EXPECT_LE(four.asked.size(), 120U);
  }
}

TEST(Mergecomp, FourGroupsComeNearTheOptimum) {
  for (int profile = 0; profile < 4; ++profile) {
    const TimeModel model = golden(profile);
    const Nanoseconds found = predict_iteration(model, Mergecomp().plan(model, groups(4)));
    EXPECT_LE(found, 1.15 * predict_iteration(model, Optimal().plan(model, {}))) << profile;
    EXPECT_LE(found, predict_iteration(model, Mergecomp().plan(model, groups(2))));
  }
}

TEST(Mergecomp, PlansByTheModelWhereNothingIsMeasured) {
  const TimeModel model = golden(1);
  test::Asked evaluator(model);
  EXPECT_EQ(Mergecomp().plan(model, groups(4)), Mergecomp().search(model, groups(4), evaluator));
}

TEST(Mergecomp, ExplainsWhatEachBorderIsWorth) {
  const TimeModel model = golden(1);
  const auto [plan, decisions] = Mergecomp().explain(model, {});
  ASSERT_EQ(decisions.size(), 160U);
  const Decision& border = decisions[plan.ends().front() - 1];
  EXPECT_FALSE(border.merged);
  EXPECT_EQ(border.right_value, predict_iteration(model, plan));
  EXPECT_GT(border.left_value, border.right_value) << "without the border it takes longer";
}

TEST(Mergecomp, RefusesNoGroups) {
  EXPECT_THROW(static_cast<void>(Mergecomp().plan(equal_tensors(4), groups(0))), InputError);
}

}  // namespace
}  // namespace mergewise
