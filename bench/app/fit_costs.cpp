// SPDX-License-Identifier: Apache-2.0
#include "bench/app/fit_costs.hpp"

#include "bench/plan/merge_plan.hpp"
#include "bench/plan/time_model.hpp"
#include "bench/plan/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace mergewise {
namespace {

constexpr double kRounding = 1e-9;         // relative: two times this near are one
constexpr double kExact = 1e-6;            // relative: far below what anybody measures
constexpr double kResidual = 1e-3;         // relative: above it the fit does not explain the data
constexpr double kMuchAmplification = 10;  // 1 % of the data moves a or b by 10 %
constexpr int kCoarse = 64;
constexpr int kFine = 60;
constexpr int kHalvings = 100;

// The iteration times of both plans as functions of a and b, and what was measured.
class Problem {
 public:
  Problem(const Profile& compute, Nanoseconds single, Nanoseconds wfbp)
      : profile_(compute), single_(single), wfbp_(wfbp) {
    std::vector<std::size_t> all(profile_.tensors.size());
    std::iota(all.begin(), all.end(), std::size_t{1});
    layer_wise_ = plan_from_ends("wfbp", all);
    together_ = plan_from_ends("single", {profile_.tensors.size()});
    for (const ProfileTensor& tensor : profile_.tensors)
      bytes_ += static_cast<double>(tensor.bytes);
    compute_ = predict_iteration(model({0, 0}), together_);
  }

  [[nodiscard]] TimeModel model(const LinearCost& line) const { return model_with(profile_, line); }
  [[nodiscard]] Nanoseconds compute() const { return compute_; }
  [[nodiscard]] double single_error(const LinearCost& line) const {
    return predict_iteration(model(line), together_) / single_ - 1;
  }
  [[nodiscard]] double wfbp_error(const LinearCost& line) const {
    return predict_iteration(model(line), layer_wise_) / wfbp_ - 1;
  }
  [[nodiscard]] double squares(const LinearCost& line) const {
    const TimeModel priced = model(line);
    const double one = std::log(predict_iteration(priced, together_) / single_);
    const double other = std::log(predict_iteration(priced, layer_wise_) / wfbp_);
    return one * one + other * other;
  }
  // What `single` spent on communication, all of it exposed: a + b M is this.
  [[nodiscard]] Nanoseconds exposed() const { return single_ - compute_; }
  // The line of that cost with this a.
  [[nodiscard]] LinearCost explaining_single(double a) const {
    return {a, std::max(0.0, (exposed() - a) / bytes_)};
  }
  [[nodiscard]] double bytes() const { return bytes_; }
  // No transfer but the last is exposed.
  [[nodiscard]] bool hidden(const LinearCost& line) const {
    const TimeModel priced = model(line);
    const std::size_t last = priced.tensor_count() - 1;
    const Nanoseconds least = compute_ + priced.transfer(last, last + 1);
    return predict_iteration(priced, layer_wise_) <= least * (1 + kExact);
  }
  [[nodiscard]] Nanoseconds longest() const { return std::max(single_, wfbp_); }

 private:
  Profile profile_;
  Nanoseconds single_;
  Nanoseconds wfbp_;
  MergePlan together_;
  MergePlan layer_wise_;
  double bytes_ = 0;
  Nanoseconds compute_ = 0;
};

// The place of the least value of a function with one valley.
template <typename Function>
double lowest(double low, double high, const Function& function) {
  constexpr double kGolden = 0.6180339887498949;
  double left = high - kGolden * (high - low);
  double right = low + kGolden * (high - low);
  double at_left = function(left);
  double at_right = function(right);
  for (int i = 0; i < kFine; ++i) {
    if (at_left <= at_right) {
      high = right;
      right = left;
      at_right = at_left;
      left = high - kGolden * (high - low);
      at_left = function(left);
    } else {
      low = left;
      left = right;
      at_left = at_right;
      right = low + kGolden * (high - low);
      at_right = function(right);
    }
  }
  return at_left <= at_right ? left : right;
}

// The pair that explains both measurements. Along the lines that explain `single`, a byte that is
// no longer paid for pays for M times as much start-up: every chain of transfers that may decide
// the layer-wise time has one start-up at least and M bytes at most, so that this time never falls
// as a grows. It meets the measured one once, if at all.
std::optional<LinearCost> exact_solution(const Problem& problem) {
  if (problem.exposed() <= 0) return std::nullopt;
  double low = 0;
  double high = problem.exposed();
  const auto error = [&](double a) { return problem.wfbp_error(problem.explaining_single(a)); };
  if (error(low) > kExact || error(high) < -kExact) return std::nullopt;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (error(middle) < 0 ? low : high) = middle;
  }
  return problem.explaining_single(error(0) >= 0 ? 0 : high);
}

LinearCost least_squares(const Problem& problem) {
  const double most_a = problem.longest() - problem.compute();
  const double most_b = most_a / problem.bytes();
  const auto best_b = [&](double a) {
    const auto squares = [&](double b) { return problem.squares({a, b}); };
    const double inside = lowest(0, most_b, squares);
    return squares(0) <= squares(inside) ? 0 : inside;
  };
  // Small a matter most: they are spaced more narrowly.
  const auto grid = [&](int i) { return most_a * std::pow(static_cast<double>(i) / kCoarse, 4); };
  const auto squares_at = [&](double a) { return problem.squares({a, best_b(a)}); };
  int best = 0;
  double least = squares_at(0);
  for (int i = 1; i <= kCoarse; ++i) {
    const double squares = squares_at(grid(i));
    if (squares < least) {
      least = squares;
      best = i;
    }
  }
  const double a =
      lowest(grid(std::max(0, best - 1)), grid(std::min(kCoarse, best + 1)), squares_at);
  if (best == 0 && least <= squares_at(a)) return {0, best_b(0)};
  return {a, best_b(a)};
}

std::optional<double> amplification(const Problem& problem, const LinearCost& line) {
  if (line.a_ns <= 0 || line.b_ns_per_byte <= 0) return std::nullopt;
  constexpr double kStep = 1e-5;
  const auto slope = [&](auto error, double in_a, double in_b) {
    const auto at = [&](double sign) {
      return std::log1p((problem.*error)(
          {line.a_ns * (1 + sign * kStep * in_a), line.b_ns_per_byte * (1 + sign * kStep * in_b)}));
    };
    return (at(1) - at(-1)) / (2 * kStep);
  };
  const double sa = slope(&Problem::single_error, 1, 0);
  const double sb = slope(&Problem::single_error, 0, 1);
  const double wa = slope(&Problem::wfbp_error, 1, 0);
  const double wb = slope(&Problem::wfbp_error, 0, 1);
  const double sum = sa * sa + sb * sb + wa * wa + wb * wb;
  const double determinant = sa * wb - sb * wa;
  // The smaller eigenvalue of J^T J, written so that it does not cancel.
  const double larger =
      (sum + std::sqrt(std::max(0.0, sum * sum - 4 * determinant * determinant))) / 2;
  const double smaller = larger > 0 ? determinant * determinant / larger : 0;
  if (smaller <= 0) return std::nullopt;
  return 1 / std::sqrt(smaller);
}

void add_doubts(const Problem& problem, CostFit& fit) {
  const auto add = [&](std::string doubt) { fit.doubts.push_back(std::move(doubt)); };
  if (problem.exposed() <= 0) add("one group beats one GPU");
  if (std::max(std::abs(fit.single_error), std::abs(fit.wfbp_error)) > kResidual) {
    add(fmt::format("no pair explains both (single {:+.1f} %, wfbp {:+.1f} % in time)",
                    100 * fit.single_error, 100 * fit.wfbp_error));
  }
  if (fit.line.a_ns <= 1) add("a is at its bound 0");
  if (fit.line.b_ns_per_byte * problem.bytes() <= 1) add("b is at its bound 0");
  if (problem.hidden(fit.line)) add("wfbp is hidden but for its last tensor");
  if (fit.amplification && *fit.amplification > kMuchAmplification) {
    add(fmt::format("1 % of the data moves a or b by {:.0f} %", *fit.amplification));
  }
}

}  // namespace

TimeModel model_with(Profile compute, const LinearCost& all_reduce) {
  compute.all_reduce.emplace();
  compute.all_reduce->isolated = all_reduce;
  return TimeModel(compute);
}

std::optional<CostFit> fit_costs(const Profile& compute, Nanoseconds single, Nanoseconds wfbp) {
  const Problem problem(compute, single, wfbp);
  if (wfbp <= problem.compute() * (1 + kRounding)) return std::nullopt;
  CostFit fit;
  const std::optional<LinearCost> exact = exact_solution(problem);
  fit.line = exact ? *exact : least_squares(problem);
  fit.single_error = problem.single_error(fit.line);
  fit.wfbp_error = problem.wfbp_error(fit.line);
  fit.amplification = amplification(problem, fit.line);
  add_doubts(problem, fit);
  return fit;
}

}  // namespace mergewise
