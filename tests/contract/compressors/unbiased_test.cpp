// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/compressors/ranks.hpp"

#include <gtest/gtest.h>

namespace mergewise::test {
namespace {

class Unbiased : public testing::TestWithParam<std::string> {};

// The mean over many iterations is within five standard errors (of what was seen) of the value, for
// every element. A bias of a tenth of the deviation would be seen: it is six standard errors.
TEST_P(Unbiased, ChanceRoundsToTheMean) {
  constexpr std::uint32_t kIterations = 4000;
  const auto compressor =
      GetParam() == "randk" ? make("randk", {{"density", 0.25}}, 5) : make(GetParam(), {}, 5);
  const std::vector<std::size_t> sizes{30, 20};
  const GroupLayout group(0, sizes);
  Floats gradient = gradient_of(sizes, 2);
  // Nothing that TernGrad would clip.
  for (float& value : gradient) value = std::copysign(0.5F * std::fabs(value) + 0.005F, value);
  std::vector<double> sums(gradient.size(), 0.0);
  std::vector<double> squares(gradient.size(), 0.0);
  Floats none;
  for (std::uint32_t iteration = 0; iteration < kIterations; ++iteration) {
    const Floats mean = alone(*compressor, group, gradient, none, iteration).mean;
    for (std::size_t i = 0; i < mean.size(); ++i) {
      const auto value = static_cast<double>(mean[i]);
      sums[i] += value;
      squares[i] += value * value;
    }
  }
  double together = 0;  // of all elements, in standard errors
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const double mean = sums[i] / kIterations;
    const double variance = std::max(squares[i] / kIterations - mean * mean, 0.0);
    const double error = std::sqrt(variance / kIterations);
    const auto exact = static_cast<double>(gradient[i]);
    EXPECT_NEAR(mean, exact, 5 * error + 1e-6 * std::fabs(exact)) << i;
    if (error > 0) together += (std::fabs(mean) - std::fabs(exact)) / error;
  }
  EXPECT_LT(std::fabs(together), 5 * std::sqrt(static_cast<double>(sums.size())))
      << "no common drift";
}

INSTANTIATE_TEST_SUITE_P(All, Unbiased, testing::Values("qsgd", "terngrad", "randk"),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace mergewise::test
