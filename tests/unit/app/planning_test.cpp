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
  ASSERT_TRUE(optimal_iteration(model).has_value());
  Optima optima(model);
  EXPECT_DOUBLE_EQ(*plan_case("optimal", {}, model, optima).gap(), 0);
  EXPECT_GT(*plan_case("wfbp", {}, model, optima).gap(), 0);
}

TEST(Planning, NoOptimumAbove5000TensorsInAQuadraticForm) {
  const CostModel table(MeasuredCost{{{100, 10.0}, {1000, 500.0}}});
  EXPECT_TRUE(optimal_iteration(TimeModel(profile_of(5000, table))).has_value());
  EXPECT_FALSE(optimal_iteration(TimeModel(profile_of(5001, table))).has_value());
  EXPECT_TRUE(optimal_iteration(TimeModel(profile_of(5001, LinearCost{1, 1}))).has_value());
}

TEST(Planning, AnOptimumWhereCopiesCost) {
  Profile profile = profile_of(3, LinearCost{1, 1});
  profile.pack = LinearCost{1, 1};
  EXPECT_TRUE(optimal_iteration(TimeModel(profile)).has_value());
}

TEST(Planning, NoOptimumWithoutTheCostOfItsCollective) {
  Profile profile = profile_of(3, LinearCost{1, 1});
  profile.reduce_scatter = profile.all_reduce;
  profile.all_gather = profile.all_reduce;
  profile.all_reduce.reset();
  profile.ranks = 4;
  const TimeModel model(profile);
  EXPECT_FALSE(optimal_iteration(model).has_value());
  Optima optima(model);
  const PlannedCase planned = plan_case("dear", {}, model, optima);
  EXPECT_GT(planned.timeline.iteration_ns, 0);
  EXPECT_FALSE(planned.gap().has_value());
  EXPECT_THROW((void)plan_case("wfbp", {}, model, optima), UnsupportedError);
}

TEST(Planning, APlanIsHeldAgainstTheOptimumOfItsUnit) {
  Profile profile = profile_of(8, LinearCost{1e3, 10});
  for (std::size_t i = 0; i < 8; ++i) profile.tensors[i].layer = i < 6 ? "first" : "last";
  const TimeModel model(profile);
  const auto of_tensors = optimal_iteration(model);
  const auto of_layers = optimal_iteration(model.merged({6, 8}));
  ASSERT_LT(*of_tensors, *of_layers);

  const Options by_layer({{"unit", std::string("layer")}});
  Optima optima(model);
  for (const char* strategy : {"wfbp", "optimal"}) {
    EXPECT_EQ(plan_case(strategy, {}, model, optima).optimal_ns, of_tensors);
    EXPECT_EQ(plan_case(strategy, by_layer, model, optima).optimal_ns, of_layers);
  }
  EXPECT_DOUBLE_EQ(*plan_case("optimal", by_layer, model, optima).gap(), 0);
}

TEST(Planning, WhatIsNoPlanOfTheOptimumMayBeatIt) {
  // Slow all-reduces, and gathers for nothing behind the forward pass.
  Profile profile = profile_of(4, LinearCost{1e6, 0});
  profile.reduce_scatter.emplace().isolated = LinearCost{10, 0};
  profile.all_gather.emplace().isolated = LinearCost{10, 0};
  profile.ranks = 2;
  profile.forward_ns = 1e3;
  const TimeModel model(profile);
  Optima optima(model);
  EXPECT_LT(*plan_case("dear", {}, model, optima).gap(), 0);
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
  Optima optima(model);
  EXPECT_THROW((void)plan_case("wfbp", Options({{"cap_bytes", std::int64_t{1}}}), model, optima),
               InputError);
}

TEST(Table, ColumnsAreAsWideAsTheirWidestCell) {
  EXPECT_EQ(format_table({"id", "n"}, {{"long name", "1"}, {"x", "1000"}}),
            "id            n\nlong name     1\nx          1000\n");
}

}  // namespace
}  // namespace mergewise
