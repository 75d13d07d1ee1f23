// SPDX-License-Identifier: Apache-2.0
// The costs of an all-reduce that explain how long an iteration took in one group and layer by
// layer: two equations, two unknowns.
#pragma once

#include "bench/core/units.hpp"
#include "bench/cost/cost_model.hpp"
#include "bench/cost/profile.hpp"
#include "bench/plan/time_model.hpp"

#include <optional>
#include <string>
#include <vector>

namespace mergewise {

/// The model of a network whose all-reduce costs a line.
[[nodiscard]] TimeModel model_with(Profile compute, const LinearCost& all_reduce);

/// T(M) = a + b M with a, b >= 0 whose predictions for `single` and `wfbp` are nearest to what was
/// measured, by least squares of the logarithms.
struct CostFit {
  LinearCost line;
  double single_error = 0;  ///< predicted / measured iteration time - 1
  double wfbp_error = 0;
  /// How many times larger than a relative error of the measurements that of a and b may be:
  /// 1 / the smallest singular value of d log(times) / d log(a, b). Nothing where a or b is 0.
  std::optional<double> amplification;
  /// Why the fit is not well posed, a clause each; empty when it is.
  std::vector<std::string> doubts;
};

/// `compute` gives the layer times; its costs are not used. Nothing when layer-wise sending took no
/// longer than computing alone: no cost of communication explains that. Deterministic; some
/// thousand predictions.
[[nodiscard]] std::optional<CostFit> fit_costs(const Profile& compute, Nanoseconds single,
                                               Nanoseconds wfbp);

}  // namespace mergewise
