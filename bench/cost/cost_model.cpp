// SPDX-License-Identifier: Apache-2.0
#include "bench/cost/cost_model.hpp"

#include "bench/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace mergewise {
namespace {

void require_cost(double value, const char* what) {
  if (!std::isfinite(value) || value < 0) {
    throw InputError(fmt::format("{} is {}, expected a finite number >= 0", what, value));
  }
}

void require_points(const std::vector<std::pair<Bytes, Nanoseconds>>& points) {
  if (points.empty()) throw InputError("a measured cost has no points, expected at least one");
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto& [bytes, ns] = points[i];
    if (bytes < 0) throw InputError(fmt::format("a measured point has {} bytes, below 0", bytes));
    require_cost(ns, "a measured point's time in ns");
    if (i > 0 && bytes <= points[i - 1].first) {
      throw InputError(fmt::format("measured points are not in increasing order: {} bytes after {}",
                                   bytes, points[i - 1].first));
    }
  }
}

}  // namespace

CostModel::CostModel(LinearCost linear) : form_(linear), line_(linear) {
  require_cost(linear.a_ns, "a_ns");
  require_cost(linear.b_ns_per_byte, "b_ns_per_byte");
}

CostModel::CostModel(MeasuredCost measured) {
  require_points(measured.points);
  segments_.reserve(measured.points.size());
  for (const auto& [bytes, ns] : measured.points) {
    Segment segment{static_cast<double>(bytes), ns, 0};
    if (!segments_.empty()) {
      Segment& before = segments_.back();
      segment.ns = std::max(ns, before.ns);
      before.slope = (segment.ns - before.ns) / (segment.bytes - before.bytes);
      segment.slope = before.slope;  // beyond the last point the last segment goes on
    }
    segments_.push_back(segment);
  }
  form_ = std::move(measured);
}

CostModel::CostModel(BestOfCost best) {
  if (best.lines.empty()) throw InputError("a best-of cost has no lines, expected at least one");
  for (const LinearCost& line : best.lines) {
    require_cost(line.a_ns, "a_ns");
    require_cost(line.b_ns_per_byte, "b_ns_per_byte");
  }
  if (best.lines.size() == 1) {
    line_ = best.lines.front();
    form_ = line_;
  } else {
    form_ = std::move(best);
  }
}

Nanoseconds CostModel::least_line(Bytes bytes) const {
  const std::vector<LinearCost>& lines = std::get<BestOfCost>(form_).lines;
  Nanoseconds least = lines.front().at(bytes);
  for (const LinearCost& line : lines) least = std::min(least, line.at(bytes));
  return least;
}

Nanoseconds CostModel::interpolated(Bytes bytes) const {
  const auto size = static_cast<double>(bytes);
  const auto after = std::upper_bound(
      segments_.begin(), segments_.end(), size,
      [](double sought, const Segment& segment) { return sought < segment.bytes; });
  if (after == segments_.begin()) return segments_.front().ns;
  const Segment& segment = *std::prev(after);
  return segment.ns + (size - segment.bytes) * segment.slope;
}

bool CostModel::is_zero() const {
  if (linear() != nullptr) return line_ == LinearCost{};
  if (const BestOfCost* best = best_of()) {
    return std::any_of(best->lines.begin(), best->lines.end(),
                       [](const LinearCost& line) { return line == LinearCost{}; });
  }
  return std::all_of(segments_.begin(), segments_.end(),
                     [](const Segment& segment) { return segment.ns == 0; });
}

}  // namespace mergewise
