// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/strategies/strategy_contract.hpp"

#include "bench/core/error.hpp"
#include "bench/plan/timeline.hpp"
#include "bench/strategies/registry.hpp"

#include <algorithm>
#include <cstddef>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <variant>
#include <vector>

namespace mergewise::test {
namespace {

ProfileTensor tensor(Bytes bytes, Nanoseconds backward) {
  ProfileTensor made;
  made.bytes = bytes;
  made.backward_ns = backward;
  return made;
}

Profile profile_of(std::vector<ProfileTensor> tensors) {
  Profile profile;
  profile.name = "contract";
  profile.forward_ns = 100;
  profile.tensors = std::move(tensors);
  profile.all_reduce.emplace();
  profile.all_reduce->isolated = LinearCost{5000, 0.5};
  profile.reduce_scatter = profile.all_reduce;
  profile.all_gather = profile.all_reduce;
  profile.ranks = 4;
  return profile;
}

Profile random_profile(std::size_t count) {
  std::mt19937_64 engine(count);
  std::uniform_int_distribution<int> number(0, 9999);
  std::vector<ProfileTensor> tensors;
  for (std::size_t i = 0; i < count; ++i) {
    const int bytes = number(engine);
    tensors.push_back(tensor(bytes < 500 ? 0 : 4 * bytes, number(engine)));
  }
  return profile_of(std::move(tensors));
}

/// Before which time after the start of the backward pass the plan forbids its last group.
Nanoseconds latest_release(const MergePlan& plan) {
  Nanoseconds latest = 0;
  for (const Group& group : plan.groups) {
    const auto* release = std::get_if<NotBefore>(&group.release);
    if (release != nullptr) latest = std::max(latest, release->after_backward_start);
  }
  return latest;
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

TEST_P(StrategyContract, CoversEveryTensorOnce) {
  for (const std::size_t count : {2U, 3U, 17U, 161U}) {
    const TimeModel model(random_profile(count));
    const MergePlan plan = make_strategy(GetParam())->plan(model, {});
    EXPECT_NO_THROW(check(plan, count)) << count << " tensors";
    EXPECT_EQ(plan.strategy, GetParam());
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
  Profile profile = random_profile(161);
  profile.all_reduce->isolated = MeasuredCost{{{1000, 4000}, {50000, 3000}, {1000000, 900000}}};
  const TimeModel model(profile);
  EXPECT_NO_THROW(check(make_strategy(GetParam())->plan(model, {}), 161));
}

TEST_P(StrategyContract, UsesTheCollectiveOfTheCompressorOrRefusesIt) {
  Profile profile = random_profile(17);
  profile.compressor = "topk";
  profile.compressors["topk"] = {};
  const TimeModel model(profile);
  try {
    for (const Group& group : make_strategy(GetParam())->plan(model, {}).groups) {
      EXPECT_EQ(group.collective, Collective::kAllGather);
    }
  } catch (const UnsupportedError& error) {
    EXPECT_NE(std::string(error.what()).find("dense gradients only"), std::string::npos)
        << error.what();
  }
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
