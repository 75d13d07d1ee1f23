// SPDX-License-Identifier: Apache-2.0
#include "bench/strategies/registry.hpp"

#include "bench/core/error.hpp"
#include "tests/unit/strategies/profiles.hpp"
#include "tests/unit/strategies/searching.hpp"

#include <gmock/gmock.h>

#include <set>
#include <string>
#include <vector>

namespace mergewise {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// Forgets the last tensor.
class Forgetful final : public Strategy {
  [[nodiscard]] std::string do_id() const override { return "forgetful"; }
  [[nodiscard]] std::string do_summary() const override { return "a bug"; }
  [[nodiscard]] MergePlan do_plan(const Task& task) const override {
    return plan_from_ends(id(), {task.model.tensor_count() - 1});
  }
};

TEST(StrategyRegistry, IdsAreUnique) {
  const std::vector<std::string> ids = strategy_ids();
  EXPECT_FALSE(ids.empty());
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), ids.size());
}

TEST(StrategyRegistry, MakesEveryStrategyUnderItsId) {
  for (const std::string& id : strategy_ids()) EXPECT_EQ(make_strategy(id)->id(), id);
}

TEST(StrategyRegistry, UnknownIdNamesTheNearest) {
  EXPECT_THAT(
      [] { static_cast<void>(make_strategy("mgwfbp")); },
      ThrowsMessage<InputError>(AllOf(HasSubstr("strategy 'mgwfbp'"), HasSubstr("'mg_wfbp'"))));
}

TEST(Strategy, ErrorsOfOptionsNameTheStrategy) {
  const TimeModel model(test::profile_of({{4, 1}}, LinearCost{}));
  EXPECT_THAT(
      [&] {
        static_cast<void>(make_strategy("ddp")->plan(model, Options({{"cap", std::int64_t{1}}})));
      },
      ThrowsMessage<InputError>(AllOf(HasSubstr("strategy 'ddp'"), HasSubstr("'cap'"))));
}

TEST(Strategy, SearchesByLayersAskAboutTensors) {
  Profile profile = test::profile_of(std::vector<test::Tensor>(12, {4, 10}), LinearCost{1, 1});
  for (std::size_t i = 0; i < 12; ++i) profile.tensors[i].layer = "layer" + std::to_string(i / 3);
  const TimeModel model(profile);
  const Options by_layer({{"unit", std::string("layer")}});
  for (const char* id : {"mergecomp", "tuned"}) {
    test::Asked evaluator(model);
    const MergePlan plan = make_strategy(id)->search(model, by_layer, evaluator);
    EXPECT_EQ(plan, make_strategy(id)->plan(model, by_layer)) << id;
    ASSERT_FALSE(evaluator.asked.empty()) << id;
    for (const std::vector<std::size_t>& ends : evaluator.asked) {
      EXPECT_EQ(ends.back(), 12U);
      for (const std::size_t end : ends) EXPECT_EQ(end % 3, 0U) << id;
    }
  }
}

TEST(Strategy, ChecksItsOwnPlan) {
  const TimeModel model(test::profile_of({{4, 1}, {4, 1}}, LinearCost{}));
  EXPECT_THAT([&] { static_cast<void>(Forgetful().plan(model, {})); },
              ThrowsMessage<InputError>(HasSubstr("'forgetful'")));
}

}  // namespace
}  // namespace mergewise
