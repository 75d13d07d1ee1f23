// SPDX-License-Identifier: Apache-2.0
// The host's compressor kernels on 25 M elements, one and two threads, on each instruction set,
// beside a copy, a triad and std::nth_element. Bytes are those that a single pass must move.
#include "kernels/primitives/host/top_k.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace mergewise {
namespace {

constexpr std::int64_t kElements = 25'000'000;
constexpr std::int64_t kSelected = kElements / 1000;

void count_bytes(benchmark::State& state, std::int64_t bytes_per_element) {
  state.SetBytesProcessed(state.iterations() * kElements * bytes_per_element);
}

const std::vector<float>& normal_values() {
  static const std::vector<float> kValues = [] {
    std::mt19937_64 random(1);
    std::normal_distribution<float> normal;
    std::vector<float> made(kElements);
    for (float& value : made) value = normal(random);
    return made;
  }();
  return kValues;
}

const std::vector<float>& zeros() {
  static const std::vector<float> kValues(kElements);
  return kValues;
}

void copy(benchmark::State& state) {
  const std::vector<float>& from = normal_values();
  std::vector<float> to(kElements);
  for (auto _ : state) {
    std::copy(from.begin(), from.end(), to.begin());
    benchmark::ClobberMemory();
  }
  count_bytes(state, 8);
}

void triad(benchmark::State& state) {
  const std::vector<float>& b = normal_values();
  const std::vector<float> c(kElements, 1.0F);
  std::vector<float> a(kElements);
  for (auto _ : state) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = b[i] + 3.0F * c[i];
    benchmark::ClobberMemory();
  }
  count_bytes(state, 12);
}

// The time includes making the copy of the magnitudes.
void nth_element(benchmark::State& state) {
  const std::vector<float>& values = normal_values();
  std::vector<float> magnitudes(kElements);
  for (auto _ : state) {
    std::transform(values.begin(), values.end(), magnitudes.begin(),
                   [](float value) { return std::fabs(value); });
    std::nth_element(magnitudes.begin(), magnitudes.begin() + (kSelected - 1), magnitudes.end(),
                     std::greater<>());
    benchmark::DoNotOptimize(magnitudes[kSelected - 1]);
  }
  count_bytes(state, 4);
}

void select(benchmark::State& state, const std::vector<float>& values, std::int64_t k,
            HostRun how) {
  std::vector<std::int32_t> indices(static_cast<std::size_t>(k));
  std::vector<float> selected(indices.size());
  TopKScratch<std::int32_t> scratch;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        top_k<std::int32_t>(values, k, indices, selected, scratch, how).selected);
  }
  count_bytes(state, 4);
  state.counters["scratch"] =
      benchmark::Counter(static_cast<double>(TopKScratch<std::int32_t>::bytes(
                             kElements, k, how.team != nullptr ? how.team->size() : 1)),
                         benchmark::Counter::kDefaults, benchmark::Counter::kIs1024);
}

using Values = const std::vector<float>& (*)();

void register_top_k(const std::string& name, Values values, std::int64_t k) {
  for (const Isa isa : available_isas()) {
    for (const int threads : {1, 2}) {
      const std::string full = name + "/" + isa_name(isa) + "/threads:" + std::to_string(threads);
      benchmark::RegisterBenchmark(full.c_str(),
                                   [values, k, isa, threads](benchmark::State& state) {
                                     Team team(threads);
                                     select(state, values(), k, {isa, &team});
                                   })
          ->Unit(benchmark::kMillisecond)
          ->UseRealTime();
    }
  }
}

BENCHMARK(copy)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(triad)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(nth_element)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace mergewise

int main(int argc, char** argv) {
  // Density 0.001: one look at the input. Half of it, and all equal: three.
  mergewise::register_top_k("top_k", mergewise::normal_values, mergewise::kSelected);
  mergewise::register_top_k("top_k_half", mergewise::normal_values, mergewise::kElements / 2);
  mergewise::register_top_k("top_k_zeros", mergewise::zeros, mergewise::kSelected);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
