// SPDX-License-Identifier: Apache-2.0
// Relative-error least squares: minimise sum ((a + b x - y) / y)^2, that is weights w = 1 / y^2, so
// that small messages count as much as large ones.
#include "bench/core/error.hpp"
#include "bench/cost/cost_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mergewise {
namespace {

using Points = std::vector<std::pair<Bytes, Nanoseconds>>;

struct Line {
  double a;
  double b;
};

void require_fittable(const Points& points) {
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

// The minimum without bounds. Sizes and times are taken relative to their weighted means, since the
// plain normal equations lose most digits when sizes span many orders of magnitude.
Line unbounded_fit(const Points& points) {
  double weight = 0, x_mean = 0, y_mean = 0;
  for (const auto& [bytes, ns] : points) {
    const double w = 1 / (ns * ns);
    weight += w;
    x_mean += w * static_cast<double>(bytes);
    y_mean += w * ns;
  }
  x_mean /= weight;
  y_mean /= weight;
  double xx = 0, xy = 0;
  for (const auto& [bytes, ns] : points) {
    const double w = 1 / (ns * ns);
    const double dx = static_cast<double>(bytes) - x_mean;
    xx += w * dx * dx;
    xy += w * dx * (ns - y_mean);
  }
  const double b = xy / xx;
  return {y_mean - b * x_mean, b};
}

// With one coefficient at its bound of 0 the other has the minimum sum(f / y) / sum(f^2 / y^2),
// f = 1 or x.
Line bounded_fit(const Points& points, const Line& unbounded) {
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

double r_squared(const Points& points, const Line& line) {
  double mean = 0;
  for (const auto& point : points) mean += point.second / static_cast<double>(points.size());
  double residual = 0, total = 0;
  for (const auto& [bytes, ns] : points) {
    const double error = line.a + line.b * static_cast<double>(bytes) - ns;
    residual += error * error;
    total += (ns - mean) * (ns - mean);
  }
  // Equal times: a constant describes them fully.
  return total > 0 ? 1 - residual / total : 1;
}

}  // namespace

LineFit fit_line(const Points& points) {
  require_fittable(points);
  const Line unbounded = unbounded_fit(points);
  const Line line = bounded_fit(points, unbounded);
  LineFit fit;
  fit.line = {line.a, line.b};
  fit.r_squared = r_squared(points, unbounded);
  fit.negative_intercept = unbounded.a < 0;
  fit.gigabits_per_s = line.b > 0 ? 8 / line.b : 0;
  for (const auto& [bytes, ns] : points) {
    const double error = std::abs(line.a + line.b * static_cast<double>(bytes) - ns) / ns;
    fit.largest_error = std::max(fit.largest_error, error);
  }
  return fit;
}

}  // namespace mergewise
