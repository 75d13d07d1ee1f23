// SPDX-License-Identifier: Apache-2.0
// No fit is used that is bad: what a calibration puts into a profile.
#include "bench/cost/fit.hpp"

#include <fmt/format.h>

namespace mergewise {
namespace {

std::string percent(double part) { return fmt::format("{:.1f} %", 100 * part); }

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
    fitted.why = fmt::format("the line is off by up to {}{}", percent(line_error),
                             fitted.segments->segments.size() > 1
                                 ? fmt::format(", {} segments by up to {}",
                                               fitted.segments->segments.size(), percent(error))
                                 : ", and the points support no more segments");
  }
  return fitted;
}

}  // namespace mergewise
