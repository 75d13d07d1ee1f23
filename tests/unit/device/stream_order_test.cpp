// SPDX-License-Identifier: Apache-2.0
// Random graphs of tasks, records and waits on several streams: each task checks that everything
// that must happen before it has happened. Plain memory on purpose: a missing order is also a race.
#include "bench/device/host/host_device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

namespace mergewise {
namespace {

constexpr std::size_t kStreams = 4;
constexpr std::size_t kEvents = 5;
constexpr std::size_t kSteps = 4000;

// How many tasks of each stream are known to be finished at some point: a vector clock.
using Clock = std::array<std::size_t, kStreams>;

void merge(Clock& into, const Clock& other) {
  for (std::size_t i = 0; i < kStreams; ++i) into[i] = std::max(into[i], other[i]);
}

class RandomGraph {
 public:
  explicit RandomGraph(std::uint32_t seed) : random_(seed) {
    for (std::size_t i = 0; i < kStreams; ++i) {
      streams_.push_back(device_->create_stream(StreamRole::kCompute));
      finished_[i].resize(kSteps);
    }
    for (std::size_t i = 0; i < kEvents; ++i) events_.push_back(device_->create_event());
    expected_.resize(kSteps);
  }

  /// The number of tasks that ran before something that had to be before them.
  int violations() {
    for (std::size_t step = 0; step < kSteps; ++step) {
      const std::size_t stream = below(kStreams);
      const std::size_t event = below(kEvents);
      switch (below(4)) {
        case 0:
          streams_[stream]->record(*events_[event]);
          recorded_[event] = clock_[stream];
          break;
        case 1:
          streams_[stream]->wait(*events_[event]);
          merge(clock_[stream], recorded_[event]);
          break;
        default:
          add_task(stream, step);
      }
    }
    for (const auto& stream : streams_) stream->synchronize();
    int sum = 0;
    for (const int count : violations_) sum += count;
    return sum;
  }

 private:
  std::size_t below(std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_);
  }

  void add_task(std::size_t stream, std::size_t step) {
    expected_[step] = clock_[stream];
    as_host(*streams_[stream]).enqueue([this, stream, step] {
      const Clock& expected = expected_[step];
      for (std::size_t other = 0; other < kStreams; ++other) {
        // The stream is in order itself, so its latest expected task stands for all before it.
        const std::size_t count = expected[other];
        if (count > 0 && !finished_[other][count - 1]) ++violations_[stream];
      }
      finished_[stream][expected[stream]] = 1;
    });
    ++clock_[stream][stream];
  }

  std::mt19937 random_;
  std::array<Clock, kStreams> clock_{};
  std::array<Clock, kEvents> recorded_{};
  std::vector<Clock> expected_;                               // by step
  std::array<std::vector<std::uint8_t>, kStreams> finished_;  // by stream and its task
  std::array<int, kStreams> violations_{};                    // each of one stream's thread

  std::unique_ptr<Device> device_ = make_host_device();
  std::vector<std::unique_ptr<Event>> events_;
  std::vector<std::unique_ptr<Stream>> streams_;
};

TEST(StreamOrder, RandomGraphsKeepHappensBefore) {
  for (std::uint32_t seed = 1; seed <= 25; ++seed) {
    ASSERT_EQ(RandomGraph(seed).violations(), 0) << "seed " << seed;
  }
}

}  // namespace
}  // namespace mergewise
