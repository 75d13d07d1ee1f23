// SPDX-License-Identifier: Apache-2.0
// How a workload is computed when it is replayed: held times or real work, and which forward step
// uses which tensor.
#pragma once

#include "bench/replay/replayer.hpp"
#include "kernels/compute/compute.hpp"
#include "workloads/workload.hpp"

#include <memory>

namespace mergewise {

/// Timed: a forward step for each tensor, from the last in ready order to the first. Else a step
/// for each layer's real work.
[[nodiscard]] std::unique_ptr<Compute> make_compute(const Workload& workload, bool timed);
/// What the replayer must know of an iteration that is computed so: a tensor is first used by its
/// layer, as in the time model.
[[nodiscard]] Iteration make_iteration(const Workload& workload, bool timed, int accumulation);
/// Real work takes the time it takes: what was measured replaces what was modelled.
void use_measured_times(Workload& workload, const Replayer::LayerTimes& times);

}  // namespace mergewise
