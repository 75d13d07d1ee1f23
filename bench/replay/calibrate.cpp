// SPDX-License-Identifier: Apache-2.0
// What is measured; calibrator.cpp is how.
#include "bench/replay/calibrate.hpp"

#include "bench/core/error.hpp"
#include "bench/core/median.hpp"
#include "bench/core/text.hpp"
#include "bench/replay/calibrator.hpp"
#include "bench/replay/exchange.hpp"

#include <algorithm>

namespace mergewise {
namespace {

constexpr Bytes kElement = static_cast<Bytes>(sizeof(float));

detail::Operation operation_of(Collective collective, Communicator& communicator, float* data,
                               Stream& stream) {
  return [collective, &communicator, data, &stream](Bytes bytes) {
    const Bytes ranks = collective == Collective::kAllGather ? communicator.size() : 1;
    const auto count = static_cast<std::size_t>(bytes / kElement * ranks);
    enqueue(collective, communicator, data + detail::elements_off(bytes), count, stream);
  };
}

}  // namespace

const std::vector<std::string>& cost_variant_names() {
  static const std::vector<std::string> kNames{"isolated", "back_to_back", "beside_compute"};
  return kNames;
}

const char* name_of(CostVariant variant) {
  return cost_variant_names()[static_cast<std::size_t>(variant)].c_str();
}

CostVariant cost_variant_from(const std::string& name) {
  const auto& names = cost_variant_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) throw InputError(unknown_name("variant", name, names));
  return static_cast<CostVariant>(found - names.begin());
}

std::vector<Bytes> calibration_sizes(Bytes largest) {
  MERGEWISE_CHECK(largest >= 0, "sizes are not negative");
  std::vector<Bytes> sizes;
  for (Bytes bytes = 1024; bytes < largest; bytes *= 4) sizes.push_back(bytes);
  if (largest > 0) sizes.push_back(largest);
  return sizes;
}

std::vector<Bytes> dense_calibration_sizes(Bytes largest) {
  largest = largest / kElement * kElement;
  std::vector<Bytes> sizes;
  for (Bytes bytes = kElement; bytes < largest; bytes *= 2) sizes.push_back(bytes);
  for (Bytes odd = 12 * kElement; odd <= largest / 4; odd *= 4) sizes.push_back(odd + kElement);
  if (largest > 0) sizes.push_back(largest);
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

MeasuredCosts calibrate_collective(ControlPlane& control, Device* device,
                                   Communicator* communicator, Collective collective,
                                   const CalibrationSettings& settings) {
  if (settings.sizes.empty()) return {};
  if (communicator == nullptr) return detail::Calibrator(control, settings).run();
  const Bytes largest = *std::max_element(settings.sizes.begin(), settings.sizes.end());
  const Bytes ranks = collective == Collective::kAllGather ? communicator->size() : 1;
  const auto buffer = device->allocate(largest * ranks + kElement);
  const auto stream = device->create_stream(StreamRole::kCommunication);
  const auto operation =
      operation_of(collective, *communicator, reinterpret_cast<float*>(buffer->data()), *stream);
  return detail::Calibrator(control, settings, *device, *stream, operation).run();
}

MeasuredCosts calibrate_copy(ControlPlane& control, Device* device, CalibrationSettings settings) {
  settings.variants = {CostVariant::kBackToBack};
  if (settings.sizes.empty()) return {};
  if (device == nullptr) return detail::Calibrator(control, settings).run();
  const Bytes largest = *std::max_element(settings.sizes.begin(), settings.sizes.end());
  const auto from = device->allocate(largest + kElement);
  const auto to = device->allocate(largest);
  const auto stream = device->create_stream(StreamRole::kCompute);
  const detail::Operation operation = [&](Bytes bytes) {
    const auto off = static_cast<std::ptrdiff_t>(detail::elements_off(bytes)) * kElement;
    device->copy(*stream, from->data() + off, to->data(), bytes);
  };
  return detail::Calibrator(control, settings, *device, *stream, operation).run();
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
    mine.push_back(static_cast<double>(runs[0].forward_steps_ns.size()));
    mine.push_back(median_of([](const Replayer::LayerTimes& run) { return run.forward_ns; }));
    for (std::size_t i = 0; i < runs[0].forward_steps_ns.size(); ++i) {
      mine.push_back(
          median_of([i](const Replayer::LayerTimes& run) { return run.forward_steps_ns[i]; }));
    }
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
  for (double& value : sum) value /= ranks;
  const auto steps_begin = sum.begin() + 2;
  const auto steps_end = steps_begin + static_cast<std::ptrdiff_t>(sum[0]);
  times.forward_ns = sum[1];
  times.forward_steps_ns.assign(steps_begin, steps_end);
  times.backward_ns.assign(steps_end, sum.end());
  return times;
}

}  // namespace mergewise
