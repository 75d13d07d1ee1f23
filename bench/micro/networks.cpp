// SPDX-License-Identifier: Apache-2.0
// How long it takes to build each network from its id.
#include "workloads/model.hpp"

#include <benchmark/benchmark.h>

#include <string>

namespace mergewise {
namespace {

void build(benchmark::State& state, const std::string& id) {
  std::size_t tensors = 0;
  std::size_t layers = 0;
  for (auto _ : state) {
    const Model model = build_model(id);
    tensors = model.tensors.size();
    layers = model.layers.size();
    benchmark::DoNotOptimize(model.layers.data());
  }
  state.counters["tensors"] = static_cast<double>(tensors);
  state.counters["layers"] = static_cast<double>(layers);
}

}  // namespace
}  // namespace mergewise

int main(int argc, char** argv) {
  for (const std::string& id : mergewise::model_ids()) {
    benchmark::RegisterBenchmark(("build_model/" + id).c_str(), mergewise::build, id)
        ->Unit(benchmark::kMicrosecond);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
