// SPDX-License-Identifier: Apache-2.0
#include "bench/app/planning.hpp"

#include "bench/app/table.hpp"
#include "bench/core/error.hpp"

#include <gtest/gtest.h>

namespace mergewise {
namespace {

Profile profile_of(std::size_t tensors, CostModel all_reduce) {
  Profile profile;
  for (std::size_t i = 0; i < tensors; ++i) {
    profile.tensors.push_back({"t" + std::to_string(i), 400, 1e3, std::nullopt, "", {}});
  }
  CollectiveCost cost;
  cost.isolated = std::move(all_reduce);
  profile.all_reduce = cost;
  return profile;
}

TEST(Planning, GapIsRelativeToTheOptimum) {
  const TimeModel model(profile_of(10, LinearCost{1e3, 1}));
  const auto optimal = optimal_iteration(model);
  ASSERT_TRUE(optimal.has_value());
  EXPECT_DOUBLE_EQ(*plan_case("optimal", {}, model, optimal).gap(), 0);
  EXPECT_GT(*plan_case("wfbp", {}, model, optimal).gap(), 0);
}

TEST(Planning, NoOptimumAbove5000TensorsInAQuadraticForm) {
  const CostModel table(MeasuredCost{{{100, 10.0}, {1000, 500.0}}});
  EXPECT_TRUE(optimal_iteration(TimeModel(profile_of(5000, table))).has_value());
  EXPECT_FALSE(optimal_iteration(TimeModel(profile_of(5001, table))).has_value());
  EXPECT_TRUE(optimal_iteration(TimeModel(profile_of(5001, LinearCost{1, 1}))).has_value());
}

TEST(Planning, NoOptimumWhereCopiesCost) {
  Profile profile = profile_of(3, LinearCost{1, 1});
  profile.pack = LinearCost{1, 1};
  EXPECT_FALSE(optimal_iteration(TimeModel(profile)).has_value());
}

TEST(Planning, OptionsOfAProfileThatAStrategyDoesNotKnowAreNoted) {
  const Options given({{"cap_bytes", std::int64_t{1000}}, {"density", 0.5}});
  std::vector<std::string> notes;
  const Options known = known_options("ddp", given, notes);
  EXPECT_TRUE(known.contains("cap_bytes"));
  EXPECT_FALSE(known.contains("density"));
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("density"), std::string::npos);
}

TEST(Planning, OptionsOnTheCommandLineThatAStrategyDoesNotKnowAreRefused) {
  const TimeModel model(profile_of(2, LinearCost{1, 1}));
  EXPECT_THROW((void)plan_case("wfbp", Options({{"cap_bytes", std::int64_t{1}}}), model, {}),
               InputError);
}

TEST(Table, ColumnsAreAsWideAsTheirWidestCell) {
  EXPECT_EQ(format_table({"id", "n"}, {{"long name", "1"}, {"x", "1000"}}),
            "id            n\nlong name     1\nx          1000\n");
}

}  // namespace
}  // namespace mergewise
