// SPDX-License-Identifier: Apache-2.0
// Every strategy that can be replayed is replayed over Gloo: all ranks end with the exact sums, and
// all instants of an iteration have a label.
#include "bench/collective/gloo/gloo_communicator.hpp"
#include "bench/core/error.hpp"
#include "bench/device/host/host_device.hpp"
#include "bench/replay/contest.hpp"
#include "bench/strategies/registry.hpp"
#include "kernels/compute/compute.hpp"
#include "tests/unit/collective/rank_threads.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace mergewise {
namespace {

constexpr Nanoseconds kLayer = 2e4;

/// Layers of a weight and a bias, some of them empty, of sizes that no number of ranks divides.
Profile small_profile(int ranks) {
  Profile profile;
  profile.name = "small";
  profile.ranks = ranks;
  for (int i = 0; i < 10; ++i) {
    ProfileTensor tensor;
    tensor.name = "tensor" + std::to_string(i);
    tensor.layer = "layer" + std::to_string(i / 2);
    tensor.bytes = i % 2 == 1 ? 4 * (i % 5) : 4 * (1009 * i + 3);
    tensor.backward_ns = i % 2 == 0 ? kLayer : 0;
    tensor.forward_ns = i % 2 == 0 ? kLayer / 2 : 0;
    profile.forward_ns += *tensor.forward_ns;
    profile.tensors.push_back(tensor);
  }
  CollectiveCost cost;
  cost.isolated = CostModel(LinearCost{1e5, 1});
  profile.all_reduce = profile.all_gather = profile.reduce_scatter = cost;
  return profile;
}

/// Small enough for several groups.
Options options_for(const Strategy& strategy) {
  Options options;
  for (const OptionSpec& spec : strategy.options()) {
    if (spec.name == "cap_bytes" || spec.name == "fusion_bytes") {
      options.set(spec.name, std::int64_t{100'000});
    }
  }
  return options;
}

std::vector<MergePlan> replayable_plans(const TimeModel& model) {
  std::vector<MergePlan> plans;
  for (const std::string& id : strategy_ids()) {
    const auto strategy = make_strategy(id);
    if (strategy->replayable()) plans.push_back(strategy->plan(model, options_for(*strategy)));
  }
  return plans;
}

struct Setting {
  int ranks;
  Buffers buffers;
  int accumulation;
};

void PrintTo(const Setting& setting, std::ostream* stream) {
  *stream << setting.ranks << " ranks, "
          << (setting.buffers == Buffers::kCopy ? "copies" : "slices") << ", "
          << setting.accumulation << " micro-batches";
}

class Replay : public testing::TestWithParam<Setting> {
 protected:
  /// Races the plans on every rank; what rank 0 came to know.
  static ContestResult race(const TimeModel& model, const std::vector<MergePlan>& plans) {
    const Setting setting = GetParam();
    std::vector<Bytes> bytes;
    std::vector<Nanoseconds> forward;
    std::vector<Nanoseconds> backward;
    Iteration iteration{setting.accumulation, {}};
    const std::size_t count = model.tensor_count();
    for (const std::size_t end : model.layer_ends()) {
      iteration.forward_step.resize(end, count - end);
    }
    for (std::size_t i = 0; i < count; ++i) {
      bytes.push_back(model.bytes(i));
      backward.push_back(model.backward(i));
      forward.push_back(model.forward(count - 1 - i));
    }
    std::vector<Contestant> contestants;
    for (const MergePlan& plan : plans) {
      contestants.push_back({plan.strategy, plan, hash(plan, bytes, model.wire())});
    }
    ContestSettings settings;
    settings.block = 2;
    settings.warmup.min_blocks = settings.warmup.max_blocks = 1;
    settings.stopping = {0.5, 2, 2};
    ContestResult result;
    run_ranks(setting.ranks, [&](ControlPlane& control) {
      const auto device = make_host_device();
      const auto communicator = make_gloo_communicator(control, setting.ranks, on_loopback());
      const auto compute = make_timed_compute(forward, backward);
      Replayer replayer(*device, *communicator, *compute, bytes, setting.buffers,
                        Replayer::GroupHook(), iteration);
      ContestResult mine = run_contest(control, &replayer, contestants, settings, {});
      if (control.rank() == 0) result = std::move(mine);
    });
    return result;
  }
};

TEST_P(Replay, EveryReplayableStrategyReducesExactlyAndLabelsAllItsTime) {
  const TimeModel model(small_profile(GetParam().ranks));
  const auto plans = replayable_plans(model);
  const ContestResult result = race(model, plans);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    SCOPED_TRACE(plans[i].strategy);
    const ContestantResult& contestant = result.contestants[i];
    EXPECT_TRUE(contestant.verified) << contestant.failure;
    EXPECT_EQ(contestant.samples_ns.size(), 2U);
    ASSERT_TRUE(contestant.breakdown.has_value());
    double labelled = 0;
    for (const auto& [label, time] : contestant.breakdown->labels_ns) labelled += time;
    EXPECT_NEAR(labelled, contestant.breakdown->iteration_ns,
                1e-6 * contestant.breakdown->iteration_ns);
    std::vector<bool> sent(plans[i].groups.size());
    for (const MeasuredSpan& span : contestant.spans) {
      if (span.lane == Lane::kCommunication) sent.at(span.group) = true;
    }
    for (std::size_t group = 0; group < sent.size(); ++group) {
      EXPECT_TRUE(sent[group]) << "no span of group " << group;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Over, Replay,
    testing::Values(Setting{4, Buffers::kSlice, 1}, Setting{4, Buffers::kCopy, 1},
                    Setting{4, Buffers::kSlice, 3}, Setting{4, Buffers::kCopy, 3},
                    Setting{1, Buffers::kSlice, 1}, Setting{2, Buffers::kCopy, 1},
                    Setting{3, Buffers::kSlice, 1}, Setting{5, Buffers::kSlice, 1}));

TEST(ReplayOverGloo, PlansThatAreSimulatedOnlyAreRefused) {
  const TimeModel model(small_profile(2));
  const auto device = make_host_device();
  const auto control = ControlPlane::connect({}, {}, {}, nullptr);
  const auto communicator = make_gloo_communicator(*control, 1, on_loopback());
  const auto compute = make_timed_compute({}, {});
  const Replayer replayer(*device, *communicator, *compute,
                          std::vector<Bytes>(model.tensor_count(), 4), Buffers::kSlice,
                          Replayer::GroupHook());
  for (const std::string& id : strategy_ids()) {
    const auto strategy = make_strategy(id);
    if (strategy->replayable()) continue;
    EXPECT_THROW((void)replayer.prepare(strategy->plan(model, {})), UnsupportedError) << id;
  }
}

}  // namespace
}  // namespace mergewise
