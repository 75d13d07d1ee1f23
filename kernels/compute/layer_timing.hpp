// SPDX-License-Identifier: Apache-2.0
// How long each layer's real work takes on this machine, beside what the machine can do at best.
#pragma once

#include "bench/core/units.hpp"
#include "bench/device/host/host_memory.hpp"
#include "workloads/layer_work.hpp"

#include <string>
#include <vector>

namespace mergewise {

struct TimingSettings {
  int repetitions = 9;  ///< forward and backward passes, after one that does not count; >= 1
  Nanoseconds budget_ns = 15e9;  ///< no further repetition begins once so much time has passed
  /// Products of these sizes, n x n x n, are tried for the ceiling; at least one.
  std::vector<int> square_sizes{256, 512, 1024};
  /// Traffic of the sweep for the ceiling: half of it is read, half written, each much larger than
  /// a last-level cache.
  Bytes swept_bytes = Bytes{1} << 29;
};

/// Medians over the repetitions.
struct LayerTime {
  Nanoseconds forward_ns = 0;
  Nanoseconds backward_ns = 0;  ///< gradients by weight and by input together
};

struct LayerMeasurement {
  std::vector<LayerTime> layers;  ///< in forward order
  std::vector<LayerTime> passes;  ///< all layers together, by repetition
  LayerTime pass;                 ///< the median of each
  double gemm_flops_per_s = 0;    ///< the fastest square product
  double copy_bytes_per_s = 0;    ///< the fastest sweep, bytes read and written
  int threads = 1;                ///< of the products; sweeps and look-ups use one
  std::string blas;               ///< library, version and the kernels it chose
};

/// Runs the whole network on the calling thread, pass after pass, as compute mode gemm would, with
/// a stamp after each layer; the ceilings are measured before every pass and after the last, and
/// the largest kept. Threads as for make_gemm_compute. Throws BackendError before anything runs
/// when the buffers of the network and of the ceilings together need more than `available`.
[[nodiscard]] LayerMeasurement measure_layer_times(const std::vector<LayerWork>& layers,
                                                   const TimingSettings& settings = {},
                                                   Bytes available = available_memory());

}  // namespace mergewise
