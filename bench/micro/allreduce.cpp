// SPDX-License-Identifier: Apache-2.0
// Gloo's all-reduce through our communicator on a stream, against the bare call in a loop and
// against what that differs from itself: two ranks, a processor each, interleaved block by block.
#include "bench/collective/gloo/gloo_communicator.hpp"
#include "bench/collective/gloo/gloo_ring.hpp"
#include "bench/device/host/host_device.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace mergewise {
namespace {

constexpr int kRanks = 2;
constexpr std::size_t kLargest = std::size_t{64} << 20;
constexpr std::size_t kWays = 3;  // ours, bare, bare once more on a context of its own

/// A rank with its three ways to the same Gloo call.
class Rank {
 public:
  Rank(int rank, const std::string& directory) {
    const NetworkOptions network{"", "127.0.0.1", 60e9};
    control_ = ControlPlane::connect({rank, kRanks, rank, "flags"},
                                     {Rendezvous::Kind::kFile, directory, "", 0}, network, nullptr);
    communicator_ = make_gloo_communicator(*control_, kRanks, network);
    for (auto& ring : bare_) {
      ring = std::make_unique<GlooRing>(*control_, kRanks, network.deadline_ns);
    }
    buffer_ = device_->allocate(static_cast<Bytes>(kLargest));
    stream_ = device_->create_stream(StreamRole::kCommunication);
  }

  /// Nanoseconds a call of each way takes, in blocks of `calls` one after the other. Rank 0 says
  /// what; all ranks do it.
  std::array<double, kWays> round(std::size_t bytes, int calls, std::size_t first_way) {
    std::array<double, kWays> times{};
    for (std::size_t i = 0; i < kWays; ++i) {
      const std::size_t way = (first_way + i) % kWays;
      control_->barrier();
      const Stamp begin = now();
      run(way, bytes / sizeof(float), calls);
      times[way] = static_cast<double>(now() - begin) / calls;
    }
    return times;
  }

  /// Rank 0's order, on all ranks.
  struct Order {
    std::size_t bytes = 0;  ///< 0: stop
    int calls = 0;
    std::size_t first_way = 0;
  };
  Order agree(const Order& mine) {
    std::string text(sizeof mine, '\0');
    std::memcpy(text.data(), &mine, sizeof mine);
    text = control_->broadcast(text);
    Order order;
    std::memcpy(&order, text.data(), sizeof order);
    return order;
  }

 private:
  void run(std::size_t way, std::size_t count, int calls) {
    float* data = reinterpret_cast<float*>(buffer_->data());
    for (int call = 0; call < calls; ++call) {
      if (way == 0) {
        communicator_->all_reduce(data, count, *stream_);
      } else {
        bare_[way - 1]->all_reduce(data, count);
      }
    }
    if (way == 0) stream_->synchronize();
  }

  std::unique_ptr<ControlPlane> control_;
  std::unique_ptr<Communicator> communicator_;
  std::array<std::unique_ptr<GlooRing>, kWays - 1> bare_;
  std::unique_ptr<Device> device_ = make_host_device();
  std::unique_ptr<Buffer> buffer_;
  std::unique_ptr<Stream> stream_;
};

/// Keeps the calling thread, and those it creates from now on, on one of the processors that this
/// process may use: where the scheduler happens to put a rank's threads would outweigh all else.
void pin(int rank) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  int left = rank % CPU_COUNT(&allowed);
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (!CPU_ISSET(processor, &allowed) || left-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);
    return;
  }
}

/// The median, how well these samples know it (95 %, by order statistics), and the quartiles.
struct Spread {
  double median, half_interval, low, high;
  [[nodiscard]] std::string text() const {
    return fmt::format("{:.3f} +- {:.3f} [{:.3f}, {:.3f}]", median, half_interval, low, high);
  }
};

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const double last = static_cast<double>(values.size() - 1);
  const auto at = [&](double quantile) {
    return values[static_cast<std::size_t>(std::lround(std::clamp(quantile, 0.0, 1.0) * last))];
  };
  const double reach = 0.98 / std::sqrt(static_cast<double>(values.size()));
  return {at(0.5), (at(0.5 + reach) - at(0.5 - reach)) / 2, at(0.25), at(0.75)};
}

void all_reduce(benchmark::State& state, Rank& rank0) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  const int calls = static_cast<int>(std::max<std::size_t>(1, (std::size_t{4} << 20) / bytes));
  std::vector<double> ours;
  std::vector<double> ours_to_bare;
  std::vector<double> bare_to_bare;
  std::size_t turn = 0;
  for (auto _ : state) {
    const Rank::Order order = rank0.agree({bytes, calls, turn++ % kWays});
    const auto times = rank0.round(order.bytes, order.calls, order.first_way);
    state.SetIterationTime(times[0] * 1e-9);
    ours.push_back(times[0]);
    ours_to_bare.push_back(times[0] / times[1]);
    bare_to_bare.push_back(times[2] / times[1]);
  }
  const Spread a = spread_of(ours_to_bare);
  const Spread b = spread_of(bare_to_bare);
  state.counters["ours_to_bare"] = a.median;
  state.counters["bare_to_bare"] = b.median;
  state.counters["median_us"] = spread_of(ours).median / 1e3;
  state.SetLabel("ours/bare " + a.text() + ", bare/bare " + b.text());
}

void run(int argc, char** argv) {
  std::string directory =
      (std::filesystem::temp_directory_path() / "mergewise-micro-XXXXXX").string();
  if (mkdtemp(directory.data()) == nullptr) throw std::runtime_error("no temporary directory");
  std::thread follower([&] {
    pin(1);
    Rank rank1(1, directory);
    for (;;) {
      const Rank::Order order = rank1.agree({});
      if (order.bytes == 0) return;
      rank1.round(order.bytes, order.calls, order.first_way);
    }
  });
  {
    pin(0);
    Rank rank0(0, directory);
    benchmark::RegisterBenchmark("all_reduce_2_ranks",
                                 [&](benchmark::State& state) { all_reduce(state, rank0); })
        ->RangeMultiplier(4)
        ->Range(std::int64_t{1} << 20, static_cast<std::int64_t>(kLargest))
        ->Iterations(200)
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
    rank0.agree({});
  }
  follower.join();
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace mergewise

int main(int argc, char** argv) {
  try {
    mergewise::run(argc, argv);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "micro_allreduce: %s\n", error.what());
    return 3;
  }
}
