// SPDX-License-Identifier: Apache-2.0
// What measured points say: the cost that goes into a profile, and what to beware of.
#pragma once

#include "bench/cost/cost_model.hpp"
#include "bench/cost/wire.hpp"
#include "bench/replay/calibrate.hpp"
#include "bench/result/result.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mergewise {

/// Bytes that the busiest link of the best algorithm carries for each byte of the collective's
/// argument: 2 (P-1)/P of an all-reduce, (P-1)/P of a reduce-scatter, P-1 of an all-gather, whose
/// argument is what one rank contributes.
[[nodiscard]] double bus_factor(Collective collective, int ranks);

/// What a slope in ns per byte of the argument implies for that link, in Gbit/s (1e9); nothing for
/// a slope of 0.
[[nodiscard]] std::optional<double> bus_gbps(Collective collective, int ranks, double ns_per_byte);

/// The record of a collective under one variant, and the cost that it gives. At least one point.
/// `link_gbps`: what the link can do, where known.
[[nodiscard]] std::pair<Calibration, CostModel> describe_calibration(
    Collective collective, const MeasuredVariant& measured, int ranks,
    std::optional<double> link_gbps);

/// The same of what uses no link: "copy", "compress topk".
[[nodiscard]] std::pair<Calibration, CostModel> describe_local(std::string what,
                                                               const MeasuredVariant& measured);

}  // namespace mergewise
