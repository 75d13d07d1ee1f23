// SPDX-License-Identifier: Apache-2.0
#include "bench/app/measured_evaluator.hpp"

namespace mergewise {

Nanoseconds MeasuredEvaluator::iteration(const std::vector<std::size_t>& ends) {
  return race_.time(plan_from_ends(strategy_, ends, collective_));
}

double MeasuredEvaluator::noise() const { return race_.noise(); }

}  // namespace mergewise
