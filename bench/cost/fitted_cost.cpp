// SPDX-License-Identifier: Apache-2.0
// No fit is used that is bad: what a calibration puts into a profile.
#include "bench/cost/fit.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace mergewise {
namespace {

std::string percent(double part) { return fmt::format("{:.1f} %", 100 * part); }

// The table that never falls with the least squares of log(table / point): where points fall, they
// become their geometric mean (isotonic regression by pooling adjacent violators, Ayer et al.,
// Annals of Mathematical Statistics 1955). So one slow size raises the next ones by its share only.
MeasuredCost rising(MeasuredPoints points) {
  struct Pool {
    double log_sum;
    std::size_t count;
    [[nodiscard]] double mean() const { return log_sum / static_cast<double>(count); }
  };
  std::vector<Pool> pools;
  for (const auto& point : points) {
    pools.push_back({std::log(point.second), 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
      const Pool last = pools.back();
      pools.pop_back();
      pools.back().log_sum += last.log_sum;
      pools.back().count += last.count;
    }
  }
  auto point = points.begin();
  for (const Pool& pool : pools) {
    for (std::size_t i = 0; i < pool.count; ++i, ++point) {
      if (pool.count > 1) point->second = std::exp(pool.mean());
    }
  }
  return {std::move(points)};
}

}  // namespace

FittedCost fit_cost(const MeasuredPoints& points) {
  FittedCost fitted;
  fitted.form = "points";
  fitted.cost = CostModel(MeasuredCost{points});
  if (points.size() < 2) {
    fitted.why = "a single size";
    return fitted;
  }
  fitted.line = fit_line(points);
  fitted.segments = fit_segments(points);
  const double line_error = fitted.line->largest_error;
  const double error = fitted.segments->largest_error;
  if (line_error <= kLineIsGood) {
    fitted.form = "line";
    fitted.cost = CostModel(fitted.line->line);
    fitted.why = fmt::format("the line is within {} of every point", percent(line_error));
  } else if (fitted.segments->segments.size() > 1 && error <= kSegmentsAreGood) {
    fitted.form = "segments";
    fitted.cost = fitted.segments->cost();
    fitted.why = fmt::format("the line is off by up to {}, {} segments by up to {}",
                             percent(line_error), fitted.segments->segments.size(), percent(error));
  } else {
    fitted.cost = CostModel(rising(points));
    fitted.why = fmt::format("the line is off by up to {}{}", percent(line_error),
                             fitted.segments->segments.size() > 1
                                 ? fmt::format(", {} segments by up to {}",
                                               fitted.segments->segments.size(), percent(error))
                                 : ", and the points support no more segments");
  }
  return fitted;
}

}  // namespace mergewise
