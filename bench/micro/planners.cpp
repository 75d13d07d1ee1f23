// SPDX-License-Identifier: Apache-2.0
// How long planning takes: every strategy over the number of tensors, a simulated case of each, and
// `optimal` at the sizes that matter. The profile is read into its time model before the clock
// starts.
#include "bench/micro/synthetic_profile.hpp"
#include "bench/plan/timeline.hpp"
#include "bench/strategies/registry.hpp"

#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <utility>

namespace mergewise {
namespace {

constexpr std::int64_t kFewest = std::int64_t{1} << 7;
constexpr std::int64_t kMost = std::int64_t{1} << 20;
constexpr std::int64_t kMostQuadratic = std::int64_t{1} << 12;

void plan(benchmark::State& state, const std::string& id, const Profile& profile) {
  const TimeModel model(profile);
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

/// A plan and its prediction: what one case costs a simulation.
void simulated_case(benchmark::State& state, const std::string& id, const Profile& profile) {
  const TimeModel model(profile);
  const std::unique_ptr<Strategy> strategy = make_strategy(id);
  for (auto _ : state) {
    benchmark::DoNotOptimize(predict(model, strategy->plan(model, {})).iteration_ns);
  }
}

/// `costs` is what synthetic_profile() takes besides the number of tensors.
template <typename Run, typename Costs>
benchmark::internal::Benchmark* add(const std::string& name, const Run& run, const std::string& id,
                                    const Costs& costs) {
  return benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
    run(state, id, synthetic_profile(static_cast<std::size_t>(state.range(0)), costs));
  });
}

/// A network on which no communication ends before the backward pass does: nothing can be skipped.
MeasuredCost slow_table() {
  MeasuredCost cost;
  for (const auto& [bytes, ns] : synthetic_table().points) {
    cost.points.emplace_back(bytes, 2.2e7 + 15.1 * static_cast<double>(bytes));
  }
  return cost;
}

/// They predict whole iterations while they plan.
bool searches_plans(const std::string& id) { return make_strategy(id)->searches(); }

void register_strategies() {
  for (const std::string& id : strategy_ids()) {
    add("plan/" + id + "/linear", plan, id, synthetic_line())
        ->RangeMultiplier(8)
        ->Range(kFewest, searches_plans(id) ? kMostQuadratic : kMost)
        ->Complexity();
    add("case/" + id + "/linear", simulated_case, id, synthetic_line())->Arg(467);
    add("case/" + id + "/measured", simulated_case, id, synthetic_table())->Arg(467);
  }
  add("plan/mg_wfbp/measured", plan, "mg_wfbp", synthetic_table())
      ->RangeMultiplier(8)
      ->Range(kFewest, kMost)
      ->Complexity(benchmark::oN);
}

void register_optimal() {
  // ResNet-50's 161 tensors, and far more than any network has.
  add("plan/optimal/linear", plan, "optimal", synthetic_line())->Arg(161)->Arg(1000000);
  add("plan/optimal/measured", plan, "optimal", synthetic_table())
      ->RangeMultiplier(2)
      ->Range(kFewest, kMostQuadratic)
      ->Complexity(benchmark::oNSquared);
  add("plan/optimal/measured_slow", plan, "optimal", slow_table())->Arg(467);
  add("plan/optimal/best_of_slow", plan, "optimal",
      BestOfCost{{{2.2e7, 15.1}, {2.5e7, 10}, {3e7, 7}}})
      ->Arg(467);
  const std::pair<const char*, SyntheticCompression> compressed[] = {
      {"slow_start", synthetic_slow_start()},
      {"balanced", synthetic_balanced()},
      {"decompression", synthetic_decompression()},
      {"tables", synthetic_tables()},
  };
  for (const auto& [name, compression] : compressed) {
    add(std::string("plan/optimal/compressed/") + name, plan, "optimal", compression)
        ->Arg(161)
        ->Arg(604)
        ->Unit(benchmark::kMillisecond);
  }
}

}  // namespace
}  // namespace mergewise

int main(int argc, char** argv) {
  mergewise::register_strategies();
  mergewise::register_optimal();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
