// SPDX-License-Identifier: Apache-2.0
#include "bench/core/error.hpp"
#include "bench/cost/fit.hpp"
#include "bench/cost/relative_line.hpp"

#include <fmt/format.h>

#include <cmath>

namespace mergewise {
namespace {

struct Line {
  double a;
  double b;
  [[nodiscard]] double operator()(Bytes bytes) const { return a + b * static_cast<double>(bytes); }
};

Line unbounded_fit(const MeasuredPoints& points) {
  detail::RelativeLine sums;
  for (const auto& [bytes, ns] : points) sums.add(static_cast<double>(bytes), ns);
  const double slope = sums.slope();
  return {sums.at(0, slope), slope};
}

// With one coefficient at its bound of 0 the other has the minimum sum(f / y) / sum(f^2 / y^2),
// f = 1 or x.
Line bounded_fit(const MeasuredPoints& points, const Line& unbounded) {
  if (unbounded.a >= 0 && unbounded.b >= 0) return unbounded;
  const bool through_origin = unbounded.a < 0;
  double numerator = 0, denominator = 0;
  for (const auto& [bytes, ns] : points) {
    const double ratio = (through_origin ? static_cast<double>(bytes) : 1.0) / ns;
    numerator += ratio;
    denominator += ratio * ratio;
  }
  const double coefficient = numerator / denominator;
  return through_origin ? Line{0, coefficient} : Line{coefficient, 0};
}

}  // namespace

void detail::require_fittable(const MeasuredPoints& points) {
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

LineFit fit_line(const MeasuredPoints& points) {
  detail::require_fittable(points);
  const Line unbounded = unbounded_fit(points);
  const Line line = bounded_fit(points, unbounded);
  LineFit fit;
  fit.line = {line.a, line.b};
  fit.r_squared = detail::r_squared(points, unbounded);
  fit.largest_error = detail::largest_error(points, line);
  fit.negative_intercept = unbounded.a < 0;
  fit.gigabits_per_s = line.b > 0 ? 8 / line.b : 0;
  return fit;
}

}  // namespace mergewise
