// SPDX-License-Identifier: Apache-2.0
// What the host's streams cost: hand-offs to and between their threads, enqueueing, and a timed
// iteration against the sum of its layer times.
#include "bench/device/host/host_device.hpp"
#include "kernels/compute/compute.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace mergewise {
namespace {

constexpr double kNanosecond = 1e-9;

// Long enough for every thread to have gone to sleep, as in a replay between two groups.
constexpr Stamp kIdle = 200'000;

struct TwoStreams {
  std::unique_ptr<Device> device = make_host_device();
  std::unique_ptr<Stream> compute = device->create_stream(StreamRole::kCompute);
  std::unique_ptr<Stream> communication = device->create_stream(StreamRole::kCommunication);
  std::unique_ptr<Event> event = device->create_event();
};

// Manual times with their median and 95th percentile: the mean of hand-offs is the scheduler's.
class Times {
 public:
  void add(benchmark::State& state, Stamp duration) {
    state.SetIterationTime(static_cast<double>(duration) * kNanosecond);
    durations_.push_back(static_cast<double>(duration));
  }
  void report(benchmark::State& state) {
    std::sort(durations_.begin(), durations_.end());
    state.counters["median_us"] = at(0.5) / 1e3;
    state.counters["p95_us"] = at(0.95) / 1e3;
  }

 private:
  [[nodiscard]] double at(double quantile) const {
    return durations_[static_cast<std::size_t>(quantile *
                                               static_cast<double>(durations_.size() - 1))];
  }
  std::vector<double> durations_;
};

// From enqueue() on the host thread to the task's start on an idle stream.
void hand_off_to_stream(benchmark::State& state) {
  TwoStreams streams;
  Times times;
  for (auto _ : state) {
    sleep_until(now() + kIdle);
    Stamp started = 0;
    const Stamp begin = now();
    as_host(*streams.compute).enqueue([&started] { started = now(); });
    streams.compute->synchronize();
    times.add(state, started - begin);
  }
  times.report(state);
}

// From the end of a task on one stream to the start of the task on another stream that waits for
// the event recorded after it.
void hand_off_between_streams(benchmark::State& state) {
  TwoStreams streams;
  Times times;
  for (auto _ : state) {
    Stamp ended = 0;
    Stamp started = 0;
    as_host(*streams.compute).enqueue([&ended] {
      sleep_until(now() + kIdle);
      ended = now();
    });
    streams.compute->record(*streams.event);
    streams.communication->wait(*streams.event);
    as_host(*streams.communication).enqueue([&started] { started = now(); });
    streams.communication->synchronize();
    times.add(state, started - ended);
  }
  times.report(state);
}

// From the end of a stream's last task to synchronize() having returned on the host thread.
void hand_off_to_host(benchmark::State& state) {
  TwoStreams streams;
  Times times;
  for (auto _ : state) {
    Stamp ended = 0;
    as_host(*streams.compute).enqueue([&ended] {
      sleep_until(now() + kIdle);
      ended = now();
    });
    streams.compute->synchronize();
    times.add(state, now() - ended);
  }
  times.report(state);
}

// The cost of a task to a stream that never runs dry: enqueue, run, pop.
void task_throughput(benchmark::State& state) {
  TwoStreams streams;
  HostStream& stream = as_host(*streams.compute);
  for (auto _ : state) {
    for (int i = 0; i < 1000; ++i) {
      stream.enqueue([] {});
    }
  }
  stream.synchronize();
  state.SetItemsProcessed(state.iterations() * 1000);
}

// One rank, no communication, 161 layers of uneven times: 125 ms forward, 250 ms backward, each
// layer's event recorded as a replay does, stamps at both ends.
void timed_iteration(benchmark::State& state) {
  constexpr std::size_t kLayers = 161;
  constexpr Nanoseconds kBackward = 250e6;
  std::vector<Nanoseconds> backward_ns;
  for (std::size_t i = 0; i < kLayers; ++i) {
    // 2 x (i + 1) / (L (L + 1)) sums to 1: from 19 us to 3.1 ms.
    backward_ns.push_back(kBackward * 2 * static_cast<double>(i + 1) / (kLayers * (kLayers + 1)));
  }
  const auto compute = make_timed_compute({kBackward / 2}, backward_ns);
  const Nanoseconds expected = 1.5 * kBackward;

  TwoStreams streams;
  Stream& stream = *streams.compute;
  std::vector<std::unique_ptr<Event>> ready;
  for (std::size_t i = 0; i < kLayers; ++i) ready.push_back(streams.device->create_event());
  Times over;
  double worst = 0;
  for (auto _ : state) {
    stream.record(*streams.event);
    compute->resume(stream);
    compute->forward(stream, 0);
    for (std::size_t i = 0; i < kLayers; ++i) {
      compute->backward(stream, i);
      stream.record(*ready[i]);
    }
    stream.synchronize();
    const double took = static_cast<double>(ready.back()->stamp() - streams.event->stamp());
    over.add(state, static_cast<Stamp>(took - expected));
    worst = std::max(worst, took - expected);
    state.SetIterationTime(took * kNanosecond);
  }
  over.report(state);
  state.counters["worst_over_us"] = worst / 1e3;
  state.counters["worst_over_us_per_layer"] = worst / 1e3 / kLayers;
  state.counters["worst_over_percent"] = 100 * worst / expected;
}

BENCHMARK(hand_off_to_stream)->UseManualTime()->Unit(benchmark::kMicrosecond)->Iterations(1000);
BENCHMARK(hand_off_between_streams)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond)
    ->Iterations(1000);
BENCHMARK(hand_off_to_host)->UseManualTime()->Unit(benchmark::kMicrosecond)->Iterations(1000);
BENCHMARK(task_throughput)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(timed_iteration)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(20);

}  // namespace
}  // namespace mergewise

BENCHMARK_MAIN();
