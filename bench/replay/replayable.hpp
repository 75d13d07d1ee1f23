// SPDX-License-Identifier: Apache-2.0
// Which plans a replayer can run.
#pragma once

#include "bench/plan/merge_plan.hpp"
#include "kernels/compress/compressor.hpp"

#include <cstddef>

namespace mergewise {

/// How many groups come before those that are sent until the next forward pass.
[[nodiscard]] std::size_t backward_groups_of(const MergePlan& plan);

/// Dense gradients (no compressor): all-reduces of ready groups; or reduce-scatters of ready groups
/// followed by all-gathers of the same groups before the next forward pass. Compressed ones: ready
/// groups, all by the collective that the compressor's messages need. Throws UnsupportedError for
/// any other plan, naming the strategy and the compressor.
void check_replayable(const MergePlan& plan, const Compressor* compressor);

}  // namespace mergewise
