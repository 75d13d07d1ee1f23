// SPDX-License-Identifier: Apache-2.0
#include "kernels/compute/layer_timing.hpp"

#include "bench/core/error.hpp"
#include "bench/core/median.hpp"
#include "kernels/compute/gemm_buffers.hpp"
#include "kernels/compute/gemm_pass.hpp"

#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace mergewise {
namespace {

Nanoseconds since(Stamp begin) { return static_cast<Nanoseconds>(now() - begin); }

// A network of its own: the square products, and the sweep.
GemmPlan make_ceilings_plan(const TimingSettings& settings) {
  std::vector<LayerWork> layers;
  for (const std::int64_t n : settings.square_sizes) {
    LayerWork& square = layers.emplace_back();
    square.layer = fmt::format("the ceiling's product of size {}", n);
    square.input_elements = n * n;
    square.forward = {{.m = n, .n = n, .k = n}};
  }
  LayerWork& sweep = layers.emplace_back();
  sweep.layer = "the ceiling's sweep";
  sweep.forward_bytes = settings.swept_bytes;
  return make_gemm_plan(layers);
}

// Both have their buffers at the same time.
void check_memory(const GemmPlan& network, const GemmPlan& ceilings, Bytes available) {
  const Bytes sum = network.memory() + ceilings.memory();
  if (sum <= available) return;
  throw BackendError(fmt::format(
      "measuring layers needs {} ({} bytes): {} for the network, most of it for layer {}, and {} "
      "for the machine's ceilings, but {} are available to this process; use a smaller batch",
      human_bytes(sum), sum, human_bytes(network.memory()), network.largest_layer,
      human_bytes(ceilings.memory()), human_bytes(available)));
}

class Ceilings {
 public:
  explicit Ceilings(GemmPlan plan) : plan_(std::move(plan)), buffers_(plan_) {}

  void measure() {
    for (const GemmPass& pass : plan_.forward) {
      const Nanoseconds time = run(pass);
      flops_per_s_ = std::max(flops_per_s_, pass.flops() / time * 1e9);
      const double bytes = 2.0 * sizeof(float) * static_cast<double>(pass.sweep.floats);
      bytes_per_s_ = std::max(bytes_per_s_, bytes / time * 1e9);
    }
  }
  [[nodiscard]] double flops_per_s() const { return flops_per_s_; }
  [[nodiscard]] double bytes_per_s() const { return bytes_per_s_; }

 private:
  Nanoseconds run(const GemmPass& pass) {
    const Stamp begin = now();
    run_gemm_pass(pass, buffers_.inputs(), buffers_.outputs());
    return std::max(since(begin), 1.0);
  }

  GemmPlan plan_;
  GemmBuffers buffers_;
  double flops_per_s_ = 0;
  double bytes_per_s_ = 0;
};

// The times of one layer over all repetitions.
struct Samples {
  std::vector<Nanoseconds> forward;
  std::vector<Nanoseconds> backward;
  [[nodiscard]] LayerTime medians() const { return {median(forward), median(backward)}; }
};

class Network {
 public:
  explicit Network(GemmPlan plan)
      : plan_(std::move(plan)), buffers_(plan_), samples_(plan_.forward.size()) {}

  // Each time runs from the end of the layer before, so that they add up to the pass.
  LayerTime run() {
    const Stamp begin = now();
    Stamp before = begin;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      samples_[i].forward.push_back(run(plan_.forward[i], before));
    }
    const Stamp turn = before;
    for (std::size_t i = samples_.size(); i-- > 0;) {
      samples_[i].backward.push_back(run(plan_.backward[i], before));
    }
    return {static_cast<Nanoseconds>(turn - begin), static_cast<Nanoseconds>(before - turn)};
  }
  void forget() { std::fill(samples_.begin(), samples_.end(), Samples{}); }
  [[nodiscard]] const std::vector<Samples>& samples() const { return samples_; }

 private:
  Nanoseconds run(const GemmPass& pass, Stamp& before) {
    run_gemm_pass(pass, buffers_.inputs(), buffers_.outputs());
    const Stamp after = now();
    return static_cast<Nanoseconds>(after - std::exchange(before, after));
  }

  GemmPlan plan_;
  GemmBuffers buffers_;
  std::vector<Samples> samples_;
};

std::string blas_description() {
  const std::string config =
      openblas_get_config();  // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ..."
  const std::size_t version = config.find(' ', config.find(' ') + 1);
  return fmt::format("{}, {} kernels", config.substr(0, version), openblas_get_corename());
}

}  // namespace

LayerMeasurement measure_layer_times(const std::vector<LayerWork>& layers,
                                     const TimingSettings& settings, Bytes available) {
  MERGEWISE_CHECK(settings.repetitions >= 1 && !settings.square_sizes.empty(),
                  "nothing to measure was asked for");
  GemmPlan network_plan = make_gemm_plan(layers);
  GemmPlan ceilings_plan = make_ceilings_plan(settings);
  check_memory(network_plan, ceilings_plan, available);
  default_to_one_blas_thread();
  Ceilings ceilings(std::move(ceilings_plan));
  Network network(std::move(network_plan));

  LayerMeasurement result;
  result.threads = openblas_get_num_threads();
  result.blas = blas_description();
  static_cast<void>(network.run());  // BLAS allocates its work space, the processor wakes up
  network.forget();
  Samples passes;
  const Stamp begin = now();
  for (int i = 0; i < settings.repetitions; ++i) {
    if (i > 0 && since(begin) > settings.budget_ns) break;
    ceilings.measure();
    const LayerTime pass = network.run();
    result.passes.push_back(pass);
    passes.forward.push_back(pass.forward_ns);
    passes.backward.push_back(pass.backward_ns);
  }
  ceilings.measure();
  result.pass = passes.medians();
  for (const Samples& samples : network.samples()) result.layers.push_back(samples.medians());
  result.gemm_flops_per_s = ceilings.flops_per_s();
  result.copy_bytes_per_s = ceilings.bytes_per_s();
  return result;
}

}  // namespace mergewise
