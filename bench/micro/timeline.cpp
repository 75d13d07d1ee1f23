// SPDX-License-Identifier: Apache-2.0
// How long predicting an iteration takes, with its spans and without, for the plan that has most
// groups, and for those that reach into the next forward pass.
#include "bench/plan/timeline.hpp"

#include "bench/micro/synthetic_profile.hpp"
#include "bench/strategies/registry.hpp"

#include <benchmark/benchmark.h>

#include <string>

namespace mergewise {
namespace {

template <typename Predict>
void time_prediction(benchmark::State& state, const std::string& id, const Predict& prediction) {
  const auto tensors = static_cast<std::size_t>(state.range(0));
  const TimeModel model(synthetic_profile(tensors, synthetic_line()));
  const MergePlan plan = make_strategy(id)->plan(model, {});
  for (auto _ : state) benchmark::DoNotOptimize(prediction(model, plan));
  state.SetComplexityN(state.range(0));
}

void timeline_spans(benchmark::State& state) {
  time_prediction(state, "wfbp", [](const TimeModel& model, const MergePlan& plan) {
    return predict(model, plan).iteration_ns;
  });
}

void timeline_iteration_only(benchmark::State& state) {
  time_prediction(state, "wfbp", [](const TimeModel& model, const MergePlan& plan) {
    return predict_iteration(model, plan);
  });
}

void timeline_next_forward(benchmark::State& state, const std::string& id) {
  time_prediction(state, id, [](const TimeModel& model, const MergePlan& plan) {
    return predict(model, plan).iteration_ns;
  });
}

BENCHMARK(timeline_spans)->Arg(161)->Arg(467)->Arg(1000000)->Complexity(benchmark::oN);
BENCHMARK(timeline_iteration_only)->Arg(161)->Arg(467)->Arg(1000000)->Complexity(benchmark::oN);

BENCHMARK_CAPTURE(timeline_next_forward, dear, std::string("dear"))->Arg(161)->Arg(467);
BENCHMARK_CAPTURE(timeline_next_forward, bytescheduler, std::string("bytescheduler"))
    ->Arg(161)
    ->Arg(467);

}  // namespace
}  // namespace mergewise
