// SPDX-License-Identifier: Apache-2.0
// Segmented least squares: the best borders for every number of segments, then the number that the
// points support.
#include "bench/core/error.hpp"
#include "bench/cost/fit.hpp"
#include "bench/cost/relative_line.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mergewise {
namespace {

constexpr std::size_t kLeastSizes = 3;
// Over a narrower range of sizes a slope is mostly noise, and the last one is what goes on.
constexpr double kLeastSpan = 1.5;
// No clock measures better: below this relative error points lie on their lines.
constexpr double kExact = 1e-6;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Points [first, last) of the sorted points: all that have the sizes of one segment.
struct Range {
  std::size_t first;
  std::size_t last;
};

SegmentedFit::Segment segment_of(const detail::RelativeLine& sums, Bytes from, Bytes to) {
  const double slope = std::max(sums.slope(), 0.0);
  return {from, to, {sums.at(0, slope), slope}};
}

// Where each run of points of one size begins, and the end of the last.
std::vector<std::size_t> runs_of(const MeasuredPoints& points) {
  std::vector<std::size_t> begins;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i == 0 || points[i].first != points[i - 1].first) begins.push_back(i);
  }
  begins.push_back(points.size());
  return begins;
}

// The least loss of every prefix of the sizes with every number of segments, and where the last
// segment of it begins.
class Borders {
 public:
  Borders(const MeasuredPoints& points, std::size_t most)
      : points_(points),
        runs_(runs_of(points)),
        loss_(most + 1, std::vector<double>(runs_.size(), kInfinity)),
        begin_(most + 1, std::vector<std::size_t>(runs_.size(), 0)) {
    loss_[0][0] = 0;
    for (std::size_t begin = 0; begin + kLeastSizes < runs_.size(); ++begin) extend_from(begin);
  }

  [[nodiscard]] double loss(std::size_t segments) const { return loss_[segments].back(); }

  [[nodiscard]] std::vector<Range> ranges(std::size_t segments) const {
    std::vector<Range> ranges;
    std::size_t end = runs_.size() - 1;
    for (; segments > 0; --segments) {
      const std::size_t begin = begin_[segments][end];
      ranges.push_back({runs_[begin], runs_[end]});
      end = begin;
    }
    std::reverse(ranges.begin(), ranges.end());
    return ranges;
  }

 private:
  // All segments that begin with this size: prefixes up to it are known already.
  void extend_from(std::size_t begin) {
    const auto from = static_cast<double>(points_[runs_[begin]].first);
    detail::RelativeLine sums;
    for (std::size_t end = begin + 1; end < runs_.size(); ++end) {
      for (std::size_t i = runs_[end - 1]; i < runs_[end]; ++i) {
        sums.add(static_cast<double>(points_[i].first), points_[i].second);
      }
      const auto to = static_cast<double>(points_[runs_[end] - 1].first);
      if (end - begin < kLeastSizes || to < kLeastSpan * from) continue;
      const double slope = std::max(sums.slope(), 0.0);
      if (sums.at(from, slope) <= 0) continue;  // no cost
      const double loss = std::max(sums.loss(slope), 0.0);
      for (std::size_t segments = 1; segments < loss_.size(); ++segments) {
        const double whole = loss_[segments - 1][begin] + loss;
        if (whole < loss_[segments][end]) {
          loss_[segments][end] = whole;
          begin_[segments][end] = begin;
        }
      }
    }
  }

  const MeasuredPoints& points_;
  std::vector<std::size_t> runs_;
  std::vector<std::vector<double>> loss_;        // by segments, then by sizes covered
  std::vector<std::vector<std::size_t>> begin_;  // the same
};

double loss_of(const MeasuredPoints& points, const LinearCost& line) {
  double loss = 0;
  for (const auto& [bytes, ns] : points) {
    const double error = line.at(bytes) / ns - 1;
    loss += error * error;
  }
  return loss;
}

// Schwarz, Estimating the dimension of a model, Annals of Statistics 1978. A segment has two
// coefficients; a border, which can lie anywhere, weighs as much (Zhang and Siegmund, A modified
// Bayes information criterion, Biometrics 2007).
double criterion(double loss, std::size_t count, std::size_t segments) {
  const auto n = static_cast<double>(count);
  const double parameters = 4 * static_cast<double>(segments) - 2;
  return n * std::log(std::max(loss / n, kExact * kExact)) + parameters * std::log(n);
}

}  // namespace

CostModel SegmentedFit::cost() const {
  MERGEWISE_CHECK(!segments.empty(), "a fit has a segment");
  if (segments.size() == 1) return CostModel(segments.front().line);
  MeasuredCost table;
  for (const Segment& segment : segments) {
    for (const Bytes bytes : {segment.from, segment.to}) {
      table.points.emplace_back(bytes, segment.line.at(bytes));
    }
  }
  return CostModel(std::move(table));
}

SegmentedFit fit_segments(MeasuredPoints points, int most) {
  MERGEWISE_CHECK(most >= 1, "a fit has a segment");
  const LinearCost line = fit_line(points).line;
  std::sort(points.begin(), points.end());
  const Borders borders(points, static_cast<std::size_t>(most));
  std::size_t chosen = 1;
  double least = criterion(loss_of(points, line), points.size(), 1);
  for (std::size_t segments = 2; segments <= static_cast<std::size_t>(most); ++segments) {
    const double value = criterion(borders.loss(segments), points.size(), segments);
    if (value < least) {
      least = value;
      chosen = segments;
    }
  }
  SegmentedFit fit;
  if (chosen == 1) {
    fit.segments = {{points.front().first, points.back().first, line}};
  } else {
    for (const Range& range : borders.ranges(chosen)) {
      detail::RelativeLine sums;
      for (std::size_t i = range.first; i < range.last; ++i) {
        sums.add(static_cast<double>(points[i].first), points[i].second);
      }
      fit.segments.push_back(
          segment_of(sums, points[range.first].first, points[range.last - 1].first));
    }
  }
  const CostModel cost = fit.cost();
  fit.r_squared = detail::r_squared(points, cost);
  fit.largest_error = detail::largest_error(points, cost);
  return fit;
}

}  // namespace mergewise
