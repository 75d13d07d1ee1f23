// SPDX-License-Identifier: Apache-2.0
// Least squares of the relative error, one point after the other. Private to this folder.
#pragma once

#include "bench/cost/fit.hpp"

#include <algorithm>
#include <cmath>

namespace mergewise::detail {

/// The line that minimises sum ((a + b x - y) / y)^2, that is with weights 1 / y^2, so that small
/// messages count as much as large ones. Sums are taken about the running weighted means (West,
/// Updating mean and variance estimates, CACM 1979), since plain ones lose most digits when sizes
/// span many orders of magnitude.
class RelativeLine {
 public:
  void add(double x, double y) {
    const double weight = 1 / (y * y);
    weight_ += weight;
    const double dx = x - x_mean_;
    const double dy = y - y_mean_;
    x_mean_ += weight / weight_ * dx;
    y_mean_ += weight / weight_ * dy;
    xx_ += weight * dx * (x - x_mean_);
    xy_ += weight * dx * (y - y_mean_);
    yy_ += weight * dy * (y - y_mean_);
  }

  /// Points of two sizes at least.
  [[nodiscard]] double slope() const { return xy_ / xx_; }
  /// The best value at x of a line with this slope.
  [[nodiscard]] double at(double x, double slope) const { return y_mean_ + slope * (x - x_mean_); }
  /// The sum of the squares for the best line with this slope.
  [[nodiscard]] double loss(double slope) const {
    return yy_ - 2 * slope * xy_ + slope * slope * xx_;
  }

 private:
  double weight_ = 0;
  double x_mean_ = 0;
  double y_mean_ = 0;
  double xx_ = 0;
  double xy_ = 0;
  double yy_ = 0;
};

/// 1 - residuals / variance of what `at` gives for the bytes of each point; 1 for equal times,
/// which a constant describes fully.
template <typename At>
[[nodiscard]] double r_squared(const MeasuredPoints& points, const At& at) {
  double mean = 0;
  for (const auto& point : points) mean += point.second / static_cast<double>(points.size());
  double residual = 0, total = 0;
  for (const auto& [bytes, ns] : points) {
    const double error = at(bytes) - ns;
    residual += error * error;
    total += (ns - mean) * (ns - mean);
  }
  return total > 0 ? 1 - residual / total : 1;
}

/// The largest |at(bytes) - ns| / ns.
template <typename At>
[[nodiscard]] double largest_error(const MeasuredPoints& points, const At& at) {
  double largest = 0;
  for (const auto& [bytes, ns] : points) largest = std::max(largest, std::abs(at(bytes) - ns) / ns);
  return largest;
}

}  // namespace mergewise::detail
