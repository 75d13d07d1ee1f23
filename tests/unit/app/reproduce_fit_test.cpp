// SPDX-License-Identifier: Apache-2.0
#include "bench/app/fit_costs.hpp"
#include "bench/app/rate_prediction.hpp"
#include "bench/app/sort_cost.hpp"
#include "bench/plan/merge_plan.hpp"
#include "bench/plan/timeline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace mergewise {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Profile layers(const std::vector<std::pair<Bytes, Nanoseconds>>& tensors, Nanoseconds forward) {
  Profile profile;
  profile.name = "layers";
  profile.forward_ns = forward;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    profile.tensors.push_back(
        {"t" + std::to_string(i), tensors[i].first, tensors[i].second, {}, "", {}});
  }
  return profile;
}

Profile random_layers(std::mt19937_64& random, int count) {
  std::vector<std::pair<Bytes, Nanoseconds>> tensors;
  std::uniform_real_distribution<double> exponent(8, 22);
  std::uniform_real_distribution<double> time(1e4, 4e6);
  for (int i = 0; i < count; ++i) {
    tensors.emplace_back(4 * static_cast<Bytes>(std::exp2(exponent(random))), time(random));
  }
  return layers(tensors, 3e7);
}

struct Times {
  Nanoseconds single = 0;
  Nanoseconds wfbp = 0;
};
Times times_of(Profile profile, const LinearCost& line) {
  profile.all_reduce.emplace();
  profile.all_reduce->isolated = line;
  const TimeModel model(profile);
  std::vector<std::size_t> ends;
  for (std::size_t i = 1; i <= model.tensor_count(); ++i) ends.push_back(i);
  return {predict_iteration(model, plan_from_ends("single", {model.tensor_count()})),
          predict_iteration(model, plan_from_ends("wfbp", ends))};
}

TEST(FitCosts, FindsTheCostsThatMadeBothTimes) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 12; ++round) {
    const Profile profile = random_layers(random, 40);
    const LinearCost line{std::uniform_real_distribution<double>(2e4, 2e6)(random),
                          std::uniform_real_distribution<double>(0.05, 3)(random)};
    const Times times = times_of(profile, line);
    const auto fit = fit_costs(profile, times.single, times.wfbp);
    ASSERT_TRUE(fit.has_value());
    EXPECT_NEAR(fit->single_error, 0, 1e-6);
    EXPECT_NEAR(fit->wfbp_error, 0, 1e-6);
    EXPECT_NEAR(fit->line.a_ns / line.a_ns, 1, 1e-4);
    EXPECT_NEAR(fit->line.b_ns_per_byte / line.b_ns_per_byte, 1, 1e-4);
  }
}

TEST(FitCosts, HasNoSolutionWhereLayerByLayerBeatsComputingAlone) {
  const Profile profile = layers({{4000, 10}, {4000, 10}}, 10);
  EXPECT_FALSE(fit_costs(profile, 100, 29.9).has_value());
  EXPECT_FALSE(fit_costs(profile, 100, 30).has_value());
  EXPECT_FALSE(fit_costs(profile, 100, 30 * (1 + 1e-12)).has_value()) << "a rounding is no cost";
  EXPECT_TRUE(fit_costs(profile, 100, 31).has_value());
}

TEST(FitCosts, SaysWhenNoPairExplainsBoth) {
  // Layer by layer can at least hide the first tensor behind the second: it cannot be slower than
  // twice the start-ups of one group, which itself took next to nothing.
  const Profile profile = layers({{4000, 1000}, {4000, 1000}}, 1000);
  const auto fit = fit_costs(profile, 3010, 9000);
  ASSERT_TRUE(fit.has_value());
  EXPECT_GT(fit->single_error, 0.01);
  EXPECT_LT(fit->wfbp_error, -0.01);
  EXPECT_THAT(fit->doubts, Contains(HasSubstr("no pair explains both")));
}

TEST(FitCosts, IsTheLeastOfTheSquaresWhereNoPairExplainsBoth) {
  const Profile profile = layers({{40000, 3000}, {400, 2000}, {8000, 1000}}, 1000);
  const Nanoseconds single = 7100;
  const Nanoseconds wfbp = 12000;
  const auto fit = fit_costs(profile, single, wfbp);
  ASSERT_TRUE(fit.has_value());
  const auto squares = [&](const LinearCost& line) {
    const Times times = times_of(profile, line);
    return std::pow(std::log(times.single / single), 2) + std::pow(std::log(times.wfbp / wfbp), 2);
  };
  const double least = squares(fit->line);
  for (double a = 0; a < 6000; a += 50) {
    for (double b = 0; b < 0.1; b += 0.002) EXPECT_GE(squares({a, b}), least * (1 - 1e-4));
  }
}

TEST(FitCosts, SaysWhenACostIsAtItsBound) {
  const Profile profile = layers({{40000, 1000}, {4000, 1000}, {4000, 1000}}, 1000);
  const Times no_start_up = times_of(profile, {0, 0.3});
  EXPECT_THAT(fit_costs(profile, no_start_up.single, no_start_up.wfbp)->doubts,
              Contains(HasSubstr("a is at its bound")));
  const Times no_bytes = times_of(profile, {2000, 0});
  EXPECT_THAT(fit_costs(profile, no_bytes.single, no_bytes.wfbp)->doubts,
              Contains(HasSubstr("b is at its bound")));
}

TEST(FitCosts, SaysWhenAllButTheLastTensorIsHidden) {
  const Profile profile = layers({{4000, 1e6}, {4000, 1e6}, {4000, 1e6}}, 1e6);
  const Times times = times_of(profile, {1000, 0.5});
  EXPECT_THAT(fit_costs(profile, times.single, times.wfbp)->doubts,
              Contains(HasSubstr("hidden but for its last tensor")));
}

TEST(FitCosts, AmplificationIsHowMuchAnErrorOfTheDataMovesTheCosts) {
  std::mt19937_64 random(3);
  const Profile profile = random_layers(random, 30);
  const Times times = times_of(profile, {4e5, 0.5});
  const auto fit = fit_costs(profile, times.single, times.wfbp);
  ASSERT_TRUE(fit && fit->amplification);
  const double error = 1e-5;
  double moved = 0;
  for (double direction = 0; direction < 6.28; direction += 0.1) {
    const auto other = fit_costs(profile, times.single * (1 + error * std::cos(direction)),
                                 times.wfbp * (1 + error * std::sin(direction)));
    ASSERT_TRUE(other.has_value());
    const double a = other->line.a_ns / fit->line.a_ns - 1;
    const double b = other->line.b_ns_per_byte / fit->line.b_ns_per_byte - 1;
    moved = std::max(moved, std::hypot(a, b));
  }
  EXPECT_NEAR(moved / error, *fit->amplification, 0.1 * *fit->amplification);
}

PublishedRates published(double one, double single, double wfbp) {
  PublishedRates rates;
  rates.model = "Net";
  rates.batch = 8;
  rates.gpus = 4;
  rates.one_gpu = one;
  rates.single = PublishedRates::Rate{single, {}};
  rates.wfbp = PublishedRates::Rate{wfbp, {}};
  return rates;
}

TEST(PredictRate, ScalesComputeToOneGpuWithAThirdForward) {
  const Profile scaled = compute_at_rate(layers({{4, 30}, {4, 10}}, 999), 8, 2);
  EXPECT_DOUBLE_EQ(scaled.forward_ns, 4e9 / 3);
  EXPECT_DOUBLE_EQ(scaled.tensors[0].backward_ns, 2e9);
  EXPECT_DOUBLE_EQ(scaled.tensors[1].backward_ns, 2e9 / 3);
}

TEST(PredictRate, IsBetweenTheBaselinesAndTheOptimum) {
  std::mt19937_64 random(5);
  const Profile shares = random_layers(random, 60);
  const RatePrediction prediction =
      predict_rate(published(20, 60, 65), shares, LinearCost{1e5, 1}, 0);
  ASSERT_TRUE(prediction.fit && prediction.fitted_plan && prediction.optimal);
  EXPECT_THAT(prediction.refused, IsEmpty());
  EXPECT_GE(*prediction.optimal, *prediction.fitted_plan * (1 - 1e-9));
  EXPECT_GE(*prediction.optimal, *prediction.authors_plan * (1 - 1e-9));
  EXPECT_GE(*prediction.optimal, 65 * (1 - 1e-6));
  EXPECT_LE(*prediction.optimal, 80);
}

TEST(PredictRate, RefusesWhatCannotBeFittedWithItsReason) {
  const Profile shares = layers({{4000, 10}, {4000, 10}}, 10);
  EXPECT_THAT(predict_rate(published(20, 60, 81), shares, {}, 0).refused,
              HasSubstr("no solution: layer by layer beats one GPU"));
  EXPECT_THAT(predict_rate(published(0, 60, 61), shares, {}, 0).refused, HasSubstr("one GPU"));
  PublishedRates alone = published(20, 60, 61);
  alone.wfbp.reset();
  EXPECT_THAT(predict_rate(alone, shares, {}, 0).refused, HasSubstr("layer by layer to fit on"));
}

TEST(PredictRate, ErrorsCountOnlyRowsThatArePublishedAndPredicted) {
  RatePrediction high = refuse_rate(published(1, 1, 1), "");
  high.published.mg_wfbp = PublishedRates::Rate{100, {}};
  high.fitted_plan = 110;
  RatePrediction low = high;
  low.fitted_plan = 98;
  RatePrediction none = high;
  none.fitted_plan.reset();
  const ErrorSummary errors = errors_of({high, low, none}, WhichPlan::kFitted);
  EXPECT_EQ(errors.published, 3U);
  EXPECT_EQ(errors.cases, 2U);
  EXPECT_EQ(errors.too_high, 1U);
  EXPECT_NEAR(errors.median, 0.06, 1e-12);
  EXPECT_NEAR(errors.largest, 0.1, 1e-12);
}

TEST(PredictRate, TablesHaveTheAuthorsPlanOnlyWhereThereIsOne) {
  RatePrediction with = refuse_rate(published(1, 1, 1), "");
  with.fitted_plan = 110;
  const RatePrediction without = with;
  with.authors_plan = 100;
  const FigureTable both = tables_of({without, with}, "t").back();
  const FigureTable none = tables_of({without}, "t").back();
  EXPECT_EQ(both.columns.size(), none.columns.size() + 3);
  EXPECT_EQ(both.notes.size(), none.notes.size() + 2);
  for (const Column& column : none.columns) EXPECT_THAT(column.name, Not(HasSubstr("authors")));
  for (const FigureTable* table : {&both, &none}) {
    for (const auto& row : table->rows) EXPECT_EQ(row.size(), table->columns.size());
  }
}

TEST(SortCost, IsTheFormulaWithinItsTables) {
  const CostModel cost = cost_with_sort({100, 0.01}, 0.5);
  for (double n : {2.0, 3.0, 100.0, 12345.0, 1e6, 2.5e7, 1e9}) {
    const double formula = 100 + 0.01 * 4 * n + 0.5 * n * std::log2(n);
    EXPECT_NEAR(cost(static_cast<Bytes>(4 * n)) / formula, 1, 1e-3) << n;
  }
  EXPECT_EQ(cost(0), 0);
  ASSERT_NE(cost_with_sort({100, 0.01}, 0).linear(), nullptr);
}

}  // namespace
}  // namespace mergewise
