// SPDX-License-Identifier: Apache-2.0
// The host's compressors on 25 M elements, one and two threads, on each instruction set, beside a
// copy, a triad and std::nth_element; top_k() too, alone. Bytes are those that must move.
#include "bench/core/compressor_spec.hpp"
#include "kernels/compress/host_compressor.hpp"
#include "kernels/primitives/host/top_k.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace mergewise {
namespace {

constexpr std::int64_t kElements = 25'000'000;
constexpr std::int64_t kSelected = kElements / 1000;

void count_bytes(benchmark::State& state, std::int64_t bytes_per_element) {
  state.SetBytesProcessed(state.iterations() * kElements * bytes_per_element);
}

std::vector<std::size_t> resnet_50_sizes();

// As many as ResNet-50 has, which are a few more than kElements.
const std::vector<float>& gradient() {
  static const std::vector<float> kValues = [] {
    std::mt19937_64 random(1);
    std::normal_distribution<float> normal;
    const std::vector<std::size_t> sizes = resnet_50_sizes();
    std::vector<float> made(std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}));
    for (float& value : made) value = normal(random);
    return made;
  }();
  return kValues;
}

const std::vector<float>& normal_values() {
  static const std::vector<float> kValues(gradient().begin(), gradient().begin() + kElements);
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

struct Triad {
  const std::vector<float>& b = normal_values();
  std::vector<float> c = std::vector<float>(kElements, 1.0F);
  std::vector<float> a = std::vector<float>(kElements);

  void run() {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = b[i] + 3.0F * c[i];
    benchmark::ClobberMemory();
  }
};

void triad(benchmark::State& state) {
  Triad triad;
  for (auto _ : state) triad.run();
  count_bytes(state, 12);
}

// Bytes per second, now: the median of five.
double triad_rate() {
  Triad triad;
  triad.run();
  std::array<double, 5> seconds{};
  for (double& took : seconds) {
    const auto start = std::chrono::steady_clock::now();
    triad.run();
    took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  std::nth_element(seconds.begin(), seconds.begin() + 2, seconds.end());
  return 12.0 * static_cast<double>(kElements) / seconds[2];
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

// Convolutions, each with two vectors for its normalisation, and a classifier.
std::vector<std::size_t> resnet_50_sizes() {
  std::vector<std::size_t> sizes;
  const auto convolution = [&sizes](std::size_t in, std::size_t out, std::size_t kernel) {
    for (const std::size_t size : {in * out * kernel * kernel, out, out}) sizes.push_back(size);
  };
  convolution(3, 64, 7);
  std::size_t in = 64;
  std::size_t width = 64;
  for (const int blocks : {3, 4, 6, 3}) {
    for (int block = 0; block < blocks; ++block) {
      convolution(in, width, 1);
      convolution(width, width, 3);
      convolution(width, 4 * width, 1);
      if (block == 0) convolution(in, 4 * width, 1);
      in = 4 * width;
    }
    width *= 2;
  }
  for (const std::size_t size : {in * 1000, std::size_t{1000}}) sizes.push_back(size);
  return sizes;
}

constexpr std::uint32_t kRanks = 4;

// What must move for each element, in bytes: every input is read once and every output written
// once. Where a scale must be known before the first code, the gradient (and the residual) are read
// twice; QSGD's buckets stay in a cache meanwhile. What is sent of k elements is left out.
struct Subject {
  const char* id;
  const char* memory;
  double compress;
  double decompress;  // kRanks messages, or their sum
};

constexpr double kBit = 1.0 / 8;
constexpr std::array kSubjects{
    Subject{"fp16", "none", 4 + 2, 2 + 4},
    Subject{"fp16", "residual", 8 + 4 + 2, 2 + 4},
    Subject{"bf16", "none", 4 + 2, 2 + 4},
    Subject{"signsgd", "none", 4 + kBit, kRanks* kBit + 4},
    Subject{"signum", "momentum", 8 + 4 + kBit, kRanks* kBit + 4},
    Subject{"ef_signsgd", "residual", 2 * 8 + 4 + kBit, kRanks* kBit + 4},
    Subject{"onebit", "residual", 2 * 8 + 4 + kBit, kRanks* kBit + 4},
    Subject{"qsgd", "none", 4 + 1, kRanks + 4},
    Subject{"qsgd", "residual", 8 + 4 + 1, kRanks + 4},
    Subject{"terngrad", "none", 2 * 4 + 2 * kBit, 2 * kRanks* kBit + 4},
    Subject{"terngrad", "residual", 2 * 8 + 4 + 2 * kBit, 2 * kRanks* kBit + 4},
    Subject{"topk", "none", 4, 4},
    Subject{"topk", "residual", 8 + 4, 4},
    Subject{"dgc", "velocity", 4 + 8 + 8, 4},
    Subject{"randk", "residual", 8 + 4, 4},
};

// All that a compressor works on.
struct Work {
  Work(const Subject& subject, const std::vector<std::size_t>& sizes, HostRun run)
      : group(0, sizes),
        compressor(make_host_compressor(
            compressor_spec(subject.id, Options({{"memory", std::string(subject.memory)}}), 1),
            run)),
        memory(compressor->memory_floats() * group.elements()),
        message(compressor->message_bytes(group)),
        messages(message.size() * (compressor->summed_as() ? 1 : kRanks)),
        scratch(compressor->scratch_bytes(group) / sizeof(double) + 1),
        mean(group.elements()) {}

  void compress(std::uint32_t iteration) { compress({iteration, 0, kRanks}, gradient()); }
  // What the collective gives, of other ranks other messages, so that votes are tied.
  void receive() {
    const std::size_t one = message.size();
    received.assign(compressor->varies() ? kRanks : 0, facts.bytes);
    std::vector<float> other = gradient();
    for (std::uint16_t rank = 0; rank * one < messages.size(); ++rank) {
      compress({0, rank, kRanks}, other);
      std::copy_n(message.begin(), one, messages.begin() + static_cast<std::ptrdiff_t>(rank * one));
      if (compressor->varies()) received[rank] = facts.bytes;
      std::rotate(other.begin(), other.begin() + 8191, other.end());
    }
  }
  void decompress(std::uint32_t iteration) {
    compressor->decompress(group, {iteration, 0, kRanks}, messages, received, mean);
  }

  void compress(const CompressStep& step, const std::vector<float>& values) {
    compressor->compress(group, step, values, memory, message,
                         std::as_writable_bytes(std::span(scratch)), facts);
  }

  GroupLayout group;
  std::unique_ptr<Compressor> compressor;
  std::vector<float> memory;
  std::vector<std::byte> message;
  std::vector<std::byte> messages;
  std::vector<double> scratch;
  std::vector<float> mean;
  std::vector<std::uint64_t> received;  // bytes of each message, where they vary
  MessageFacts facts;
};

void measure(benchmark::State& state, const Subject& subject, bool compresses,
             const std::vector<std::size_t>& sizes, HostRun run) {
  Work work(subject, sizes, run);
  const double bytes = (compresses ? subject.compress : subject.decompress) *
                       static_cast<double>(work.group.elements());
  const double triad = triad_rate();
  std::uint32_t iteration = 0;
  work.compress(iteration);
  work.receive();
  work.decompress(iteration);
  const auto start = std::chrono::steady_clock::now();
  for (auto _ : state) {
    if (compresses) {
      work.compress(++iteration);
    } else {
      work.decompress(++iteration);
    }
    benchmark::ClobberMemory();
  }
  const double took =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const double moved = bytes * static_cast<double>(state.iterations());
  state.SetBytesProcessed(static_cast<std::int64_t>(moved));
  state.counters["of_triad"] = moved / took / triad;
}

void register_compressors(const std::string& layout, const std::vector<std::size_t>& sizes) {
  for (const Subject& subject : kSubjects) {
    for (const bool compresses : {true, false}) {
      for (const Isa isa : available_isas()) {
        for (const int threads : {1, 2}) {
          const std::string name = std::string(subject.id) + "_" + subject.memory + "/" +
                                   (compresses ? "compress/" : "decompress/") + layout + "/" +
                                   isa_name(isa) + "/threads:" + std::to_string(threads);
          benchmark::RegisterBenchmark(name.c_str(),
                                       [=, &subject](benchmark::State& state) {
                                         Team team(threads);
                                         measure(state, subject, compresses, sizes, {isa, &team});
                                       })
              ->Unit(benchmark::kMillisecond)
              ->UseRealTime();
        }
      }
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
  mergewise::register_compressors("resnet50", mergewise::resnet_50_sizes());
  mergewise::register_compressors("one", {mergewise::gradient().size()});
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
