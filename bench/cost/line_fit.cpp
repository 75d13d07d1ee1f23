// SPDX-License-Identifier: Apache-2.0
#include "bench/core/error.hpp"
#include "bench/cost/fit.hpp"
#include "bench/cost/relative_line.hpp"

#include <fmt/format.h>

#include <cmath>

namespace mergewise {
namespace {

LinearCost unbounded_fit(const MeasuredPoints& points) {
  detail::RelativeLine sums;
  for (const auto& [bytes, ns] : points) sums.add(static_cast<double>(bytes), ns);
  const double slope = sums.slope();
  return {sums.at(0, slope), slope};
}

// With one coefficient at its bound of 0 the other has the minimum sum(f / y) / sum(f^2 / y^2),
// f = 1 or x.
LinearCost bounded_fit(const MeasuredPoints& points, const LinearCost& unbounded) {
  if (unbounded.a_ns >= 0 && unbounded.b_ns_per_byte >= 0) return unbounded;
  const bool through_origin = unbounded.a_ns < 0;
  double numerator = 0, denominator = 0;
  for (const auto& [bytes, ns] : points) {
    const double ratio = (through_origin ? static_cast<double>(bytes) : 1.0) / ns;
    numerator += ratio;
    denominator += ratio * ratio;
  }
  const double coefficient = numerator / denominator;
  return through_origin ? LinearCost{0, coefficient} : LinearCost{coefficient, 0};
}

/// Throws InputError unless these are points that a line can be fitted through.
void require_fittable(const MeasuredPoints& points) {
  if (points.size() < 2) {
    throw InputError(
        fmt::format("a line needs at least two measured points, but there are {}", points.size()));
  }
  bool same_size = true;
  for (const auto& [bytes, ns] : points) {
    if (bytes <= 0 || !std::isfinite(ns) || ns <= 0) {
      throw InputError(fmt::format(
          "a line cannot be fitted through the point ({} bytes, {} ns): both must be > 0", bytes,
          ns));
    }
    same_size = same_size && bytes == points.front().first;
  }
  if (same_size) {
    throw InputError(fmt::format("a line needs measured points of two sizes, but all have {} bytes",
                                 points.front().first));
  }
}

}  // namespace

LineFit fit_line(const MeasuredPoints& points) {
  require_fittable(points);
  const LinearCost unbounded = unbounded_fit(points);
  LineFit fit;
  fit.line = bounded_fit(points, unbounded);
  fit.r_squared = detail::r_squared(points, [&](Bytes bytes) { return unbounded.at(bytes); });
  fit.largest_error =
      detail::largest_error(points, [&](Bytes bytes) { return fit.line.at(bytes); });
  fit.negative_intercept = unbounded.a_ns < 0;
  fit.gigabits_per_s = fit.line.b_ns_per_byte > 0 ? 8 / fit.line.b_ns_per_byte : 0;
  return fit;
}

}  // namespace mergewise
