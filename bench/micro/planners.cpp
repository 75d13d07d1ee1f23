// SPDX-License-Identifier: Apache-2.0
// How long planning takes: every strategy over the number of tensors, and `optimal` at the sizes
// that matter. The profile is read into its time model before the clock starts.
#include "bench/micro/synthetic_profile.hpp"
#include "bench/strategies/registry.hpp"

#include <benchmark/benchmark.h>

#include <memory>
#include <string>

namespace mergewise {
namespace {

constexpr std::int64_t kFewest = std::int64_t{1} << 7;
constexpr std::int64_t kMost = std::int64_t{1} << 20;
constexpr std::int64_t kMostQuadratic = std::int64_t{1} << 12;

void plan(benchmark::State& state, const std::string& id, const CostModel& cost) {
  const auto tensors = static_cast<std::size_t>(state.range(0));
  const TimeModel model(synthetic_profile(tensors, cost));
  const std::unique_ptr<Strategy> strategy = make_strategy(id);
  std::size_t groups = 0;
  for (auto _ : state) {
    const MergePlan made = strategy->plan(model, {});
    groups = made.groups.size();
    benchmark::DoNotOptimize(made.groups.data());
  }
  state.SetComplexityN(state.range(0));
  state.counters["groups"] = static_cast<double>(groups);
}

/// A network on which no communication ends before the backward pass does: nothing can be skipped.
MeasuredCost slow_table() {
  MeasuredCost cost;
  for (const auto& [bytes, ns] : synthetic_table().points) {
    cost.points.emplace_back(bytes, 2.2e7 + 15.1 * static_cast<double>(bytes));
  }
  return cost;
}

void register_planners() {
  for (const std::string& id : strategy_ids()) {
    benchmark::RegisterBenchmark(("plan/" + id + "/linear").c_str(), plan, id, synthetic_line())
        ->RangeMultiplier(8)
        ->Range(kFewest, kMost)
        ->Complexity(id == "single" ? benchmark::o1 : benchmark::oN);
  }
  // ResNet-50's 161 tensors, and far more than any network has.
  benchmark::RegisterBenchmark("plan/optimal/linear", plan, "optimal", synthetic_line())
      ->Arg(161)
      ->Arg(1000000);
  benchmark::RegisterBenchmark("plan/mg_wfbp/measured", plan, "mg_wfbp", synthetic_table())
      ->RangeMultiplier(8)
      ->Range(kFewest, kMost)
      ->Complexity(benchmark::oN);
  benchmark::RegisterBenchmark("plan/optimal/measured", plan, "optimal", synthetic_table())
      ->RangeMultiplier(2)
      ->Range(kFewest, kMostQuadratic)
      ->Complexity(benchmark::oNSquared);
  benchmark::RegisterBenchmark("plan/optimal/measured", plan, "optimal", synthetic_table())
      ->Arg(467);
  benchmark::RegisterBenchmark("plan/optimal/measured_slow", plan, "optimal", slow_table())
      ->Arg(467);
}

}  // namespace
}  // namespace mergewise

int main(int argc, char** argv) {
  mergewise::register_planners();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
