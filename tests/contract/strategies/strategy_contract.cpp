// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/strategies/strategy_contract.hpp"

#include "bench/core/error.hpp"
#include "bench/plan/timeline.hpp"
#include "bench/strategies/registry.hpp"
#include "tests/contract/strategies/profiles.hpp"
#include "tests/unit/strategies/searching.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <variant>
#include <vector>

namespace mergewise::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr double kRounding = 1e-9;

std::string quoted(const std::string& word) { return "'" + word + "'"; }

/// Before which time after the start of the backward pass the plan forbids its last group.
Nanoseconds latest_release(const MergePlan& plan) {
  Nanoseconds latest = 0;
  for (const Group& group : plan.groups) {
    const auto* release = std::get_if<NotBefore>(&group.release);
    if (release != nullptr) latest = std::max(latest, release->after_backward_start);
  }
  return latest;
}

/// Decisions by increasing border, each as the plan with these ends has it, none of the plan's
/// borders missing, and readable.
void expect_consistent(const Decisions& decisions, const std::vector<std::size_t>& ends) {
  std::set<std::size_t> borders(ends.begin(), std::prev(ends.end()));
  std::size_t previous = 0;
  for (const Decision& decision : decisions) {
    EXPECT_GT(decision.border, previous);
    EXPECT_LT(decision.border, ends.back());
    previous = decision.border;
    EXPECT_EQ(decision.merged, !std::binary_search(ends.begin(), ends.end(), decision.border))
        << "border " << decision.border;
    borders.erase(decision.border);
    EXPECT_FALSE(decision.why.empty());
    EXPECT_EQ(decision.left.empty(), decision.right.empty());
    EXPECT_TRUE(decision.left.empty() || decision.unit == "ns" || decision.unit == "bytes");
    EXPECT_TRUE(std::isfinite(decision.left_value) && std::isfinite(decision.right_value));
  }
  EXPECT_TRUE(borders.empty()) << "not explained: " << *borders.begin();
}

TEST_P(StrategyContract, DescribesItselfInOneLine) {
  const auto strategy = make_strategy(GetParam());
  EXPECT_EQ(strategy->id(), GetParam());
  EXPECT_FALSE(strategy->summary().empty());
  EXPECT_EQ(strategy->summary().find('\n'), std::string::npos);
}

TEST_P(StrategyContract, DefaultsOfItsOptionsAreValidAndNamesAreUnique) {
  std::set<std::string> names;
  for (const OptionSpec& spec : make_strategy(GetParam())->options()) {
    EXPECT_TRUE(names.insert(spec.name).second) << spec.name;
    EXPECT_FALSE(spec.summary.empty()) << spec.name;
    EXPECT_NO_THROW(static_cast<void>(checked_value(spec, spec.default_value))) << spec.name;
  }
}

TEST_P(StrategyContract, CoversEveryByteOncePerPhase) {
  for (const std::size_t count : {2U, 3U, 17U, 161U}) {
    const TimeModel model(random_profile(count));
    const MergePlan plan = make_strategy(GetParam())->plan(model, {});
    EXPECT_NO_THROW(check(plan, count)) << count << " tensors";
    EXPECT_EQ(plan.strategy, GetParam());
    std::map<Collective, Bytes> sent;
    for (const Group& group : plan.groups) {
      sent[group.collective] += model.bytes(group.begin, group.end);
    }
    for (const auto& phase : sent) EXPECT_EQ(phase.second, model.bytes(0, count));
  }
}

TEST_P(StrategyContract, TakesTheSameOptionsWrittenOutAsByDefault) {
  const auto strategy = make_strategy(GetParam());
  const TimeModel model(random_profile(161));
  Options written;
  for (const OptionSpec& spec : strategy->options()) written.set(spec.name, spec.default_value);
  EXPECT_EQ(strategy->plan(model, written), strategy->plan(model, {}));
}

TEST_P(StrategyContract, IsDeterministicAndPure) {
  const TimeModel model(random_profile(161));
  const TimeModel other(random_profile(40));
  const auto strategy = make_strategy(GetParam());
  const MergePlan first = strategy->plan(model, {});
  static_cast<void>(strategy->plan(other, {}));
  EXPECT_EQ(strategy->plan(model, {}), first) << "planning leaves no trace";
  EXPECT_EQ(make_strategy(GetParam())->plan(TimeModel(random_profile(161)), {}), first);
}

TEST_P(StrategyContract, MayBeSharedBetweenThreads) {
  const TimeModel model(random_profile(161));
  const auto strategy = make_strategy(GetParam());
  const MergePlan expected = strategy->plan(model, {});
  std::vector<MergePlan> plans(4);
  std::vector<std::thread> threads;
  for (MergePlan& plan : plans) {
    threads.emplace_back([&] { plan = strategy->plan(model, {}); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const MergePlan& plan : plans) EXPECT_EQ(plan, expected);
}

TEST_P(StrategyContract, RefusesUnknownOptions) {
  const TimeModel model(random_profile(3));
  const Options unknown({{"no_such_option", std::int64_t{1}}});
  EXPECT_THROW(static_cast<void>(make_strategy(GetParam())->plan(model, unknown)), InputError);
}

TEST_P(StrategyContract, PlansASingleTensor) {
  for (const Bytes bytes : {0, 4, 4000}) {
    const TimeModel model(profile_of({tensor(bytes, 10)}));
    EXPECT_NO_THROW(check(make_strategy(GetParam())->plan(model, {}), 1)) << bytes << " bytes";
  }
}

TEST_P(StrategyContract, EmptyTensorsTakeNoCommunication) {
  const TimeModel model(profile_of(std::vector<ProfileTensor>(9, tensor(0, 10))));
  const MergePlan plan = make_strategy(GetParam())->plan(model, {});
  EXPECT_NO_THROW(check(plan, 9));
  const Timeline timeline = predict(model, plan);
  EXPECT_EQ(timeline.comm_busy_ns, 0);
  EXPECT_DOUBLE_EQ(timeline.iteration_ns, std::max(190.0, 100 + latest_release(plan)));
}

TEST_P(StrategyContract, TensorsWithoutBackwardTimeAreFine) {
  const TimeModel model(profile_of(std::vector<ProfileTensor>(9, tensor(400, 0))));
  EXPECT_NO_THROW(check(make_strategy(GetParam())->plan(model, {}), 9));
}

TEST_P(StrategyContract, PlansAHundredThousandTensors) {
  constexpr std::size_t kCount = 100000;
  const TimeModel model(random_profile(kCount));
  EXPECT_NO_THROW(check(make_strategy(GetParam())->plan(model, {}), kCount));
}

TEST_P(StrategyContract, PlansWithMeasuredCosts) {
  const TimeModel model(with_table(network(161, 1)));
  EXPECT_NO_THROW(check(make_strategy(GetParam())->plan(model, {}), 161));
}

TEST_P(StrategyContract, UsesTheCollectiveOfTheCompressorOrRefusesIt) {
  const TimeModel model(compressed(network(17, 1)));
  const auto strategy = make_strategy(GetParam());
  try {
    for (const Group& group : strategy->plan(model, {}).groups) {
      EXPECT_EQ(group.collective, Collective::kAllGather);
    }
  } catch (const UnsupportedError& refused) {
    EXPECT_FALSE(strategy->within_optimal()) << "only plans of another kind may be dense only";
    EXPECT_THAT(refused.what(), AllOf(HasSubstr(quoted(GetParam())), HasSubstr("topk")));
  }
}

TEST_P(StrategyContract, MissingCostOfACollectiveIsAnErrorThatNamesBoth) {
  const Profile complete = random_profile(17);
  Profile profile = complete;
  profile.all_reduce = profile.all_gather = profile.reduce_scatter = std::nullopt;
  std::set<std::string> named;
  const auto give = [&](const std::string& message, const char* collective, auto member) {
    if (message.find(quoted(collective)) == std::string::npos) return;
    EXPECT_TRUE(named.insert(collective).second) << collective << " is there: " << message;
    profile.*member = complete.*member;
  };
  for (std::size_t known = 0; known <= named.size(); ++known) {
    try {
      static_cast<void>(make_strategy(GetParam())->plan(TimeModel(profile), {}));
    } catch (const UnsupportedError& error) {
      EXPECT_THAT(error.what(), HasSubstr(quoted(GetParam())));
      give(error.what(), "all_reduce", &Profile::all_reduce);
      give(error.what(), "all_gather", &Profile::all_gather);
      give(error.what(), "reduce_scatter", &Profile::reduce_scatter);
      EXPECT_EQ(named.size(), known + 1) << error.what();
    }
  }
  EXPECT_FALSE(named.empty()) << "it sends something";
}

TEST_P(StrategyContract, UnitLayerNeverSplitsALayer) {
  const auto strategy = make_strategy(GetParam());
  const Options by_layer({{"unit", std::string("layer")}});
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const TimeModel model(network(80, seed));
    const std::vector<std::size_t>& layers = model.layer_ends();
    ASSERT_LT(layers.size(), model.tensor_count());
    for (const Group& group : strategy->plan(model, by_layer).groups) {
      EXPECT_TRUE(std::binary_search(layers.begin(), layers.end(), group.end)) << group.end;
    }
  }
}

TEST_P(StrategyContract, NeverBetterThanTheOptimumOfItsUnit) {
  const auto strategy = make_strategy(GetParam());
  if (!strategy->within_optimal()) {
    // Then its plans are of another kind than those that the optimum is the best of.
    EXPECT_FALSE(is_plain(strategy->plan(TimeModel(network(40, 0)), {})));
    return;
  }
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    for (const Profile& profile :
         {network(40, seed), with_table(network(40, seed)), compressed(network(40, seed))}) {
      const TimeModel model(profile);
      for (const char* unit : {"tensor", "layer"}) {
        const Options options({{"unit", std::string(unit)}});
        const Nanoseconds least =
            predict_iteration(model, make_strategy("optimal")->plan(model, options));
        const Nanoseconds time = predict_iteration(model, strategy->plan(model, options));
        EXPECT_GE(time, least * (1 - kRounding)) << "seed " << seed << ", unit " << unit;
      }
    }
  }
}

TEST_P(StrategyContract, ExplainsEveryBorderOfItsPlan) {
  const auto strategy = make_strategy(GetParam());
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
    std::vector<Profile> profiles{network(60, seed)};
    if (strategy->within_optimal()) profiles.push_back(compressed(network(60, seed)));
    for (const Profile& profile : profiles) {
      for (const char* unit : {"tensor", "layer"}) {
        const TimeModel model(profile);
        const Options options({{"unit", std::string(unit)}});
        const auto [plan, decisions] = strategy->explain(model, options);
        EXPECT_EQ(plan, strategy->plan(model, options)) << "explaining changes nothing";
        expect_consistent(decisions, plan.ends());
      }
    }
  }
}

TEST_P(StrategyContract, AsksTheEvaluatorOnlyIfItSearches) {
  const auto strategy = make_strategy(GetParam());
  const TimeModel model(network(40, 1));
  Asked evaluator(model);
  EXPECT_EQ(strategy->search(model, {}, evaluator), strategy->plan(model, {}))
      << "the model's answers, wherever they come from";
  EXPECT_EQ(!evaluator.asked.empty(), strategy->searches());
}

TEST(StrategyContracts, HoldForEveryRegisteredStrategy) {
  std::set<std::string> instantiated;
  const auto& unit = *::testing::UnitTest::GetInstance();
  for (int i = 0; i < unit.total_test_suite_count(); ++i) {
    const auto& suite = *unit.GetTestSuite(i);
    const std::string name = suite.name();
    if (name.find("/StrategyContract") == std::string::npos) continue;
    std::string value = suite.GetTestInfo(0)->value_param();
    value.erase(0, 1).pop_back();  // printed in quotes
    instantiated.insert(value);
  }
  const std::vector<std::string> ids = strategy_ids();
  EXPECT_EQ(instantiated, std::set<std::string>(ids.begin(), ids.end()));
}

}  // namespace
}  // namespace mergewise::test
