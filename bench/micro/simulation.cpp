// SPDX-License-Identifier: Apache-2.0
// What a case of `simulate` costs from a cluster's description to its timeline: ResNet-152, 467
// tensors, by every strategy on growing clusters. The simulated time does not enter.
#include "bench/cost/cluster.hpp"
#include "bench/plan/timeline.hpp"
#include "bench/strategies/registry.hpp"
#include "workloads/model.hpp"

#include <benchmark/benchmark.h>

#include <string>

namespace mergewise {
namespace {

Profile resnet152() {
  const Model model = build_model("resnet152");
  Profile profile;
  profile.name = model.name;
  profile.forward_ns = 1e8;
  for (const std::size_t index : model.ready_order) {
    const auto elements = static_cast<double>(model.tensors[index].elements());
    ProfileTensor tensor;
    tensor.name = model.tensors[index].name;
    tensor.bytes = 4 * model.tensors[index].elements();
    tensor.backward_ns = 1e5 + 2 * elements;
    profile.tensors.push_back(std::move(tensor));
  }
  return profile;
}

Cluster ethernet() {
  Cluster cluster;
  cluster.name = "ethernet";
  cluster.network = {3e4, 0.8, 0};
  return cluster;
}

// 8 GPUs a node: several algorithms are best by turns.
Cluster boxes() {
  Cluster cluster;
  cluster.name = "boxes";
  cluster.gpus_per_node = 8;
  cluster.network = {1e4, 0.08, 0};
  cluster.node = LinkCosts{3e3, 0.01, 0};
  return cluster;
}

void simulate_case(benchmark::State& state, const std::string& strategy, const Cluster& cluster) {
  const Profile network = resnet152();
  const auto planner = make_strategy(strategy);
  Nanoseconds iteration = 0;
  for (auto _ : state) {
    Profile profile = network;
    const auto ranks = static_cast<int>(state.range(0));
    set_costs(profile, ranks, costs_of(cluster, ranks));
    const TimeModel model(profile);
    iteration = predict(model, planner->plan(model, {})).iteration_ns;
    benchmark::DoNotOptimize(iteration);
  }
  state.counters["simulated_ms"] = iteration / 1e6;
}

}  // namespace
}  // namespace mergewise

int main(int argc, char** argv) {
  for (const std::string& id : mergewise::strategy_ids()) {
    for (const mergewise::Cluster& cluster : {mergewise::ethernet(), mergewise::boxes()}) {
      benchmark::RegisterBenchmark(("simulate/" + cluster.name + "/" + id).c_str(),
                                   mergewise::simulate_case, id, cluster)
          ->Arg(8)
          ->Arg(64)
          ->Arg(4096)
          ->Unit(benchmark::kMicrosecond);
    }
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
