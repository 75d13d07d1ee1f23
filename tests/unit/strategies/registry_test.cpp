// SPDX-License-Identifier: Apache-2.0
#include "bench/strategies/registry.hpp"

#include "bench/core/error.hpp"
#include "tests/unit/strategies/profiles.hpp"

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

TEST(Strategy, ChecksItsOwnPlan) {
  const TimeModel model(test::profile_of({{4, 1}, {4, 1}}, LinearCost{}));
  EXPECT_THAT([&] { static_cast<void>(Forgetful().plan(model, {})); },
              ThrowsMessage<InputError>(HasSubstr("'forgetful'")));
}

}  // namespace
}  // namespace mergewise
