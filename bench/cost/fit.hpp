// SPDX-License-Identifier: Apache-2.0
// Cost models from measured points: one line, or as many as the points support, and how well either
// describes them.
#pragma once

#include "bench/core/units.hpp"
#include "bench/cost/cost_model.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mergewise {

/// Measured (bytes, ns): bytes > 0, ns > 0, in any order; a size may occur more than once.
using MeasuredPoints = std::vector<std::pair<Bytes, Nanoseconds>>;

/// How well a straight line describes measured points.
struct LineFit {
  LinearCost line;           ///< a and b by relative-error least squares, each clamped to >= 0
  double r_squared = 0;      ///< of the unclamped line, on the times
  double largest_error = 0;  ///< largest |line - point| / point
  bool negative_intercept = false;  ///< the unclamped a was < 0
  double gigabits_per_s =
      0;  ///< 8 / b: what link rate the slope implies, before the algorithm's factor
};

/// Fits a line by least squares of the relative error. Points of two sizes at least; throws
/// InputError else.
[[nodiscard]] LineFit fit_line(const MeasuredPoints& points);

/// Several lines, one after the other. Between two of them, where nothing was measured, the cost
/// goes straight from the last point of one to the first of the next: a jump stays as steep as the
/// points show it.
struct SegmentedFit {
  struct Segment {
    Bytes from = 0;  ///< the smallest size it covers
    Bytes to = 0;    ///< the largest
    /// Of least relative error, b >= 0. It starts at `from`, not at 0 bytes: a may be below 0 where
    /// there are several.
    LinearCost line;
  };
  std::vector<Segment> segments;  ///< at least one, by increasing bytes
  double r_squared = 0;           ///< of cost(), on the times
  double largest_error = 0;       ///< largest |cost() - point| / point
  /// The fit as a cost: a line when there is one segment, else a table of both ends of every
  /// segment, which never falls (a segment that begins below the end of the one before is raised).
  [[nodiscard]] CostModel cost() const;
};

/// As many segments as the points support: the number (1 to `most`) of least Bayesian information
/// criterion for relative errors, n ln(error^2 / n) + (4 segments - 2) ln n, with the borders of
/// least error (dynamic programming, O(n^2 most)). Where there are several, each covers at least
/// three sizes, the largest at least 1.5 times the smallest; a single one is fit_line()'s line.
/// Errors as there.
[[nodiscard]] SegmentedFit fit_segments(MeasuredPoints points, int most = 6);

/// A line is good enough to plan with when it is within this of every point, segments within that.
inline constexpr double kLineIsGood = 0.05;
inline constexpr double kSegmentsAreGood = 0.10;

/// What plans are made from after a calibration, and what it was chosen from.
struct FittedCost {
  std::string form;  ///< "line", "segments" or "points"
  std::string why;   ///< one clause, with the errors that decided
  CostModel cost;
  /// Empty for points of a single size, which nothing can be fitted through.
  std::optional<LineFit> line;
  std::optional<SegmentedFit> segments;
};

/// The line when it is good, else the segments when they are, else the points themselves; points
/// that fall become their geometric mean there (isotonic regression of the logarithms). Sizes must
/// increase. Throws InputError for points that are none, or no cost.
[[nodiscard]] FittedCost fit_cost(const MeasuredPoints& points);

}  // namespace mergewise
