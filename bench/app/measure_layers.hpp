// SPDX-License-Identifier: Apache-2.0
// `mergewise describe MODEL --measure`: what each layer's real work takes on this machine.
#pragma once

#include "kernels/compute/layer_timing.hpp"
#include "workloads/workload.hpp"

#include <string>

namespace mergewise {

/// Measures on the calling thread and prints, as "table" or "json". Throws InputError for a
/// workload without layers.
void print_layer_measurement(const Workload& workload, const std::string& format);

/// The same of what was measured already. For people: a line for each layer, one for each kind of
/// layer, the whole, the ceilings, and how it was measured.
[[nodiscard]] std::string layer_measurement_table(const Workload& workload,
                                                  const LayerMeasurement& measured);

/// For programs: {name, batch, forward_ns, backward_ns (medians of whole passes), passes:
/// [{forward_ns, backward_ns}], ceilings: {flops_per_s, bytes_per_s}, threads, blas, method, kinds,
/// layers}. A layer or kind: {name, kind, layers (how many), forward_ns, backward_ns, flops,
/// flops_per_s, of_gemm_ceiling, bytes, bytes_per_s, of_copy_ceiling}, null where it has none:
/// products count flops, memory passes bytes, both of forward and backward.
[[nodiscard]] std::string layer_measurement_json(const Workload& workload,
                                                 const LayerMeasurement& measured);

}  // namespace mergewise
