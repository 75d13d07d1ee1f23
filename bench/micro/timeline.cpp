// SPDX-License-Identifier: Apache-2.0
// How long predicting an iteration takes, with its spans and without, for the plan that has most
// groups.
#include "bench/plan/timeline.hpp"

#include "bench/micro/synthetic_profile.hpp"
#include "bench/strategies/wfbp.hpp"

#include <benchmark/benchmark.h>

namespace mergewise {
namespace {

template <typename Predict>
void time_prediction(benchmark::State& state, const Predict& prediction) {
  const auto tensors = static_cast<std::size_t>(state.range(0));
  const TimeModel model(synthetic_profile(tensors, synthetic_line()));
  const MergePlan plan = Wfbp().plan(model, {});
  for (auto _ : state) benchmark::DoNotOptimize(prediction(model, plan));
  state.SetComplexityN(state.range(0));
}

void timeline_spans(benchmark::State& state) {
  time_prediction(state, [](const TimeModel& model, const MergePlan& plan) {
    return predict(model, plan).iteration_ns;
  });
}

void timeline_iteration_only(benchmark::State& state) {
  time_prediction(state, [](const TimeModel& model, const MergePlan& plan) {
    return predict_iteration(model, plan);
  });
}

BENCHMARK(timeline_spans)->Arg(161)->Arg(467)->Arg(1000000)->Complexity(benchmark::oN);
BENCHMARK(timeline_iteration_only)->Arg(161)->Arg(467)->Arg(1000000)->Complexity(benchmark::oN);

}  // namespace
}  // namespace mergewise
