// SPDX-License-Identifier: Apache-2.0
#include "bench/replay/calibrate.hpp"

#include "bench/core/error.hpp"
#include "bench/core/median.hpp"
#include "bench/replay/exchange.hpp"
#include "bench/stats/summary.hpp"

#include <algorithm>
#include <cmath>

namespace mergewise {
namespace {

// Enqueues one operation of this many bytes; empty on ranks that take no part.
using Operation = std::function<void(Bytes bytes)>;

class Calibrator {
 public:
  Calibrator(ControlPlane& control, Device* device, Stream* stream, Operation operation)
      : control_(control), stream_(stream), operation_(std::move(operation)) {
    if (device == nullptr) return;
    begin_ = device->create_event();
    end_ = device->create_event();
  }

  std::vector<CalibrationPoint> run(const CalibrationSettings& settings) {
    std::vector<int> repetitions;
    for (const Bytes bytes : settings.sizes) {
      (void)time(bytes, 1, settings);  // connects lazily, touches the memory
      const Nanoseconds once = time(bytes, 1, settings);
      if (stopped_) return {};
      const double fitting = settings.time_per_point_ns / std::max(once, 1.0);
      repetitions.push_back(static_cast<int>(
          std::clamp(fitting, 2.0, static_cast<double>(settings.most_repetitions))));
    }
    std::vector<std::vector<double>> means(settings.sizes.size());
    for (int round = 0; round < settings.rounds; ++round) {
      for (std::size_t i = 0; i < settings.sizes.size(); ++i) {
        means[i].push_back(time(settings.sizes[i], repetitions[i], settings));
        if (stopped_) return {};
      }
    }
    std::vector<CalibrationPoint> points;
    for (std::size_t i = 0; i < settings.sizes.size(); ++i) {
      const auto [low, high] = std::minmax_element(means[i].begin(), means[i].end());
      points.push_back(
          {settings.sizes[i], mean(means[i]), *low, *high, repetitions[i] * settings.rounds});
    }
    return points;
  }

 private:
  // Mean time of one of `repetitions` operations back to back: the maximum over ranks.
  Nanoseconds time(Bytes bytes, int repetitions, const CalibrationSettings& settings) {
    control_.barrier();
    std::vector<double> mine{settings.stop_requested && settings.stop_requested() ? 1.0 : 0.0};
    if (stream_ != nullptr) {
      stream_->record(*begin_);
      for (int i = 0; i < repetitions; ++i) operation_(bytes);
      stream_->record(*end_);
      stream_->synchronize();
      mine.push_back(static_cast<double>(end_->stamp() - begin_->stamp()) / repetitions);
    }
    Nanoseconds longest = 0;
    for (const std::string& bytes_of_rank : control_.all_gather(to_bytes(mine))) {
      const auto values = from_bytes<double>(bytes_of_rank);
      if (values[0] > 0) stopped_ = true;
      if (values.size() > 1) longest = std::max(longest, values[1]);
    }
    return longest;
  }

  ControlPlane& control_;
  Stream* stream_;
  Operation operation_;
  std::unique_ptr<Event> begin_;
  std::unique_ptr<Event> end_;
  bool stopped_ = false;
};

}  // namespace

std::vector<Bytes> calibration_sizes(Bytes largest) {
  MERGEWISE_CHECK(largest >= 0, "sizes are not negative");
  std::vector<Bytes> sizes;
  for (Bytes bytes = 1024; bytes < largest; bytes *= 4) sizes.push_back(bytes);
  if (largest > 0) sizes.push_back(largest);
  return sizes;
}

std::vector<CalibrationPoint> calibrate_all_reduce(ControlPlane& control, Device* device,
                                                   Communicator* communicator,
                                                   const CalibrationSettings& settings) {
  if (settings.sizes.empty()) return {};
  if (communicator == nullptr) return Calibrator(control, nullptr, nullptr, {}).run(settings);
  const auto buffer =
      device->allocate(*std::max_element(settings.sizes.begin(), settings.sizes.end()));
  const auto stream = device->create_stream(StreamRole::kCommunication);
  auto* data = reinterpret_cast<float*>(buffer->data());
  const Operation operation = [&](Bytes bytes) {
    communicator->all_reduce(data, static_cast<std::size_t>(bytes) / sizeof(float), *stream);
  };
  return Calibrator(control, device, stream.get(), operation).run(settings);
}

std::vector<CalibrationPoint> calibrate_copy(ControlPlane& control, Device* device,
                                             const CalibrationSettings& settings) {
  if (settings.sizes.empty()) return {};
  if (device == nullptr) return Calibrator(control, nullptr, nullptr, {}).run(settings);
  const Bytes largest = *std::max_element(settings.sizes.begin(), settings.sizes.end());
  const auto from = device->allocate(largest);
  const auto to = device->allocate(largest);
  const auto stream = device->create_stream(StreamRole::kCompute);
  const Operation operation = [&](Bytes bytes) {
    device->copy(*stream, from->data(), to->data(), bytes);
  };
  return Calibrator(control, device, stream.get(), operation).run(settings);
}

Replayer::LayerTimes measure_layers(ControlPlane& control, Replayer* replayer, int iterations) {
  control.barrier();
  std::vector<double> mine;
  if (replayer != nullptr) {
    (void)replayer->run_layers(1);
    const auto runs = replayer->run_layers(iterations);
    std::vector<double> samples(runs.size());
    const auto median_of = [&](const auto& value) {
      for (std::size_t k = 0; k < runs.size(); ++k) samples[k] = value(runs[k]);
      return median(samples);
    };
    mine.push_back(median_of([](const Replayer::LayerTimes& run) { return run.forward_ns; }));
    for (std::size_t i = 0; i < runs[0].backward_ns.size(); ++i) {
      mine.push_back(
          median_of([i](const Replayer::LayerTimes& run) { return run.backward_ns[i]; }));
    }
  }
  std::vector<double> sum;
  double ranks = 0;
  for (const std::string& bytes : control.all_gather(to_bytes(mine))) {
    const auto values = from_bytes<double>(bytes);
    if (values.empty()) continue;
    sum.resize(values.size(), 0.0);
    for (std::size_t i = 0; i < values.size(); ++i) sum[i] += values[i];
    ranks += 1;
  }
  MERGEWISE_CHECK(ranks > 0, "somebody measured");
  Replayer::LayerTimes times;
  times.forward_ns = sum[0] / ranks;
  for (std::size_t i = 1; i < sum.size(); ++i) times.backward_ns.push_back(sum[i] / ranks);
  return times;
}

}  // namespace mergewise
