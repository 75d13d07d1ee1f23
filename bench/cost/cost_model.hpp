// SPDX-License-Identifier: Apache-2.0
// What an operation on a number of bytes costs: a straight line, the best of several, or a
// calibrated table.
#pragma once

#include "bench/core/units.hpp"

#include <utility>
#include <variant>
#include <vector>

namespace mergewise {

/// T(M) = a + b M for M > 0.
struct LinearCost {
  Nanoseconds a_ns = 0;           ///< start-up, >= 0
  Nanoseconds b_ns_per_byte = 0;  ///< >= 0
  /// a + b M, also for M = 0.
  [[nodiscard]] Nanoseconds at(Bytes bytes) const {
    return a_ns + b_ns_per_byte * static_cast<double>(bytes);
  }
  friend bool operator==(const LinearCost&, const LinearCost&) = default;
};

/// Calibrated points (bytes, ns), by strictly increasing bytes, at least one. Each time is first
/// raised to the largest before it; between points it is interpolated; below the first the first's
/// time; beyond the last, the last segment goes on (one point: constant).
struct MeasuredCost {
  std::vector<std::pair<Bytes, Nanoseconds>> points;
  friend bool operator==(const MeasuredCost&, const MeasuredCost&) = default;
};

/// The least of several lines for each number of bytes: an operation that picks its best algorithm.
struct BestOfCost {
  std::vector<LinearCost> lines;  ///< at least one
  friend bool operator==(const BestOfCost&, const BestOfCost&) = default;
};

/// A non-decreasing cost of bytes with T(0) = 0. Immutable value; calling it is O(1) or O(log
/// points), no allocation, from any thread.
class CostModel {
 public:
  CostModel() = default;  ///< costs nothing
  /// Throw InputError for negative or non-finite numbers, unordered or missing points.
  CostModel(LinearCost linear);      // NOLINT(google-explicit-constructor): a line is a cost model
  CostModel(MeasuredCost measured);  // NOLINT(google-explicit-constructor): so is a table
  CostModel(BestOfCost best);        // NOLINT(google-explicit-constructor): and a choice of lines

  [[nodiscard]] Nanoseconds operator()(Bytes bytes) const {
    if (bytes <= 0) return 0;
    if (form_.index() == 0) return line_.at(bytes);
    return form_.index() == 1 ? interpolated(bytes) : least_line(bytes);
  }

  /// The line, or nullptr for another form (one line is a line, however it was given).
  [[nodiscard]] const LinearCost* linear() const { return std::get_if<LinearCost>(&form_); }
  /// The points as given (before the running maximum), or nullptr for another form.
  [[nodiscard]] const MeasuredCost* measured() const { return std::get_if<MeasuredCost>(&form_); }
  /// The lines as given, at least two, or nullptr for another form.
  [[nodiscard]] const BestOfCost* best_of() const { return std::get_if<BestOfCost>(&form_); }
  /// True when every number of bytes costs nothing.
  [[nodiscard]] bool is_zero() const;

  friend bool operator==(const CostModel& a, const CostModel& b) { return a.form_ == b.form_; }

 private:
  // A table's piece from a point to the next, times raised to the running maximum. Rounding cannot
  // break monotony: a byte before the next point the exact value lies 1 / (bytes between) of the
  // step below it, far more than the rounding error below 2^51 bytes.
  struct Segment {
    double bytes;
    double ns;
    double slope;
  };

  [[nodiscard]] Nanoseconds interpolated(Bytes bytes) const;
  [[nodiscard]] Nanoseconds least_line(Bytes bytes) const;

  std::variant<LinearCost, MeasuredCost, BestOfCost> form_;
  LinearCost line_;                // of a line, at hand without asking the variant
  std::vector<Segment> segments_;  // of a table, one for each point
};

}  // namespace mergewise
